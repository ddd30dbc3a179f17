#include "podere/session/server.h"

#include <poll.h>
#include <prometheus/exposer.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/interrupt.h"
#include "podere/base/json_text.h"
#include "podere/base/local_socket.h"
#include "podere/session/event_stream.h"
#include "podere/session/job_queue.h"
#include "podere/session/prometheus.h"

namespace podere::session {
namespace {

constexpr int kPollMs = 100;
constexpr int kMostExecutors = 4096;
constexpr std::size_t kMostUnsentBytes = std::size_t{1} << 20;  // of a client whose next order is taken
constexpr double kFarewellSeconds = 10;
constexpr auto kBetweenAttempts = std::chrono::milliseconds(10);
constexpr double kPatienceSeconds = 3;  // with a cancelled job that cannot stop by itself

std::string to_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// `fallback` where it is missing; 0 for one that must be there.
int whole_number_of(const Json& json, const char* name, int least, int most, int fallback) {
  if (!json.contains(name) && fallback > 0) return fallback;
  if (!json.contains(name)) throw_input_error("{} is missing", name);
  const Json& value = json[name];
  if (value.is_number_integer() && value >= least && value <= most) return value.get<int>();
  throw_input_error("{} is {}, allowed is a whole number from {} to {}", name, to_text(value), least, most);
}

void check_is_true(const Json& order, const char* name) {
  if (order[name] != true) throw_input_error("{} is {}, allowed is true", name, to_text(order[name]));
}

/// What poll() wakes up by, when another thread wishes.
class Bell {
 public:
  Bell() : descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (descriptor_ < 0) throw_error("eventfd: {}", std::strerror(errno));
  }
  ~Bell() { close(descriptor_); }
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  void ring() const { eventfd_write(descriptor_, 1); }
  void silence() const {
    eventfd_t ignored = 0;
    eventfd_read(descriptor_, &ignored);
  }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

/// Lets clients in, hears their orders on a thread of its own, and tells them what becomes of those. A client that does
/// not read keeps nobody waiting. Thread-safe.
class Doorman {
 public:
  Doorman(const SessionPlace& place, int n_executors, int least)
      : listener_(place.socket()), name_(place.name()), wanted_{n_executors, least}, thread_([this] { watch(); }) {}
  /// Waits up to 10 s for clients to take what they were told.
  ~Doorman() {
    has_ended_ = true;
    bell_.ring();
    thread_.join();
  }

  JobQueue& jobs() { return jobs_; }
  bool is_stopped() const { return is_stopped_; }
  Wanted wanted() const {
    const std::lock_guard lock(mutex_);
    return wanted_;
  }
  bool take_notice() { return notice_.exchange(false); }
  /// What there is to tell of the session, but for its jobs.
  void set_status(Json status) {
    const std::lock_guard lock(mutex_);
    status_ = std::move(status);
  }

  /// To whoever ordered the job, and to those who follow.
  void tell(const JobQueue::Ordered& order, Json event) {
    event["job"] = order.number;
    const std::lock_guard lock(mutex_);
    for (auto& [number, client] : clients_) {
      if (number != order.by.client && !client.follows) continue;
      Json copy = event;
      copy["id"] = number == order.by.client ? order.by.id : Json();
      if (number != order.by.client) copy.erase("result");  // models are for who ordered them
      post(client, copy);
    }
  }

 private:
  struct Client {
    LineSocket socket;
    bool follows = false;
  };

  void watch() {
    while (!has_ended_) {
      const bool somebody_knocks = wait_for_clients(true);
      if (somebody_knocks && !let_in()) std::this_thread::sleep_for(kBetweenAttempts);  // too many are in
      std::vector<std::int64_t> gone;
      for (auto& [number, client] : clients_) {
        if (!serve(number, client)) gone.push_back(number);
      }
      for (const std::int64_t number : gone) {
        jobs_.cancel_of(number, std::nullopt);
        const std::lock_guard lock(mutex_);
        clients_.erase(number);
      }
    }
    say_farewell();
  }

  /// Until one of them has something to say or takes what it is told, or the bell rings; for a moment at most. Whether
  /// another one wants to come in.
  bool wait_for_clients(bool listens) {
    std::vector<pollfd> waiting = {{.fd = bell_.descriptor(), .events = POLLIN, .revents = 0},
                                   {.fd = listens ? listener_.descriptor() : -1, .events = POLLIN, .revents = 0}};
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [number, client] : clients_) {
        const std::size_t n_unsent = client.socket.n_unsent_bytes();
        const int events = (n_unsent > 0 ? POLLOUT : 0) | (listens && n_unsent < kMostUnsentBytes ? POLLIN : 0);
        if (events == 0) continue;
        waiting.push_back({.fd = client.socket.descriptor(), .events = static_cast<short>(events), .revents = 0});
      }
    }
    poll(waiting.data(), waiting.size(), kPollMs);
    bell_.silence();
    return waiting[1].revents != 0;
  }

  /// Takes a client's orders, as long as it takes the answers. False if it has gone.
  bool serve(std::int64_t number, Client& client) {
    const auto n_unsent = [&]() -> std::optional<std::size_t> {
      const std::lock_guard lock(mutex_);
      return client.socket.flush() ? std::optional(client.socket.n_unsent_bytes()) : std::nullopt;
    };
    auto n = n_unsent();
    const bool is_here = n && (*n >= kMostUnsentBytes || client.socket.receive(0));
    while (n && *n < kMostUnsentBytes) {
      const auto line = client.socket.take_line();
      if (!line) break;
      take(number, client, *line);
      n = n_unsent();
    }
    return is_here && n;
  }

  /// Clients may still have results to take.
  void say_farewell() {
    const Stopwatch watch;
    const auto has_unsent = [&](auto& entry) {
      return entry.second.socket.flush() && entry.second.socket.n_unsent_bytes() > 0;
    };
    while (std::ranges::any_of(clients_, has_unsent) && watch.seconds() < kFarewellSeconds) wait_for_clients(false);
  }

  bool let_in() {
    auto socket = listener_.accept();
    if (!socket) return false;
    const std::lock_guard lock(mutex_);
    Client& client = clients_[++last_client_];
    client.socket = std::move(*socket);
    post(client, {{"event", "ready"},
                  {"protocol", kProtocolVersion},
                  {"session", name_},
                  {"executors", wanted_.n_executors},
                  {"version", PODERE_VERSION}});
    return true;
  }

  /// With the lock.
  void post(Client& client, const Json& event) {
    client.socket.post_line(to_text(event));
    if (client.socket.n_unsent_bytes() > 0) bell_.ring();
  }

  void take(std::int64_t number, Client& client, const std::string& line) {
    const Json order = is_nested_deeper_than(line, kMaxJsonDepth) ? Json() : Json::parse(line, nullptr, false);
    const Json id = order.is_object() ? order.value("id", Json()) : Json();
    try {
      if (!order.is_object()) throw_input_error("an order is a JSON object, not {}", line.substr(0, 200));
      const auto answer = answer_to(number, client, id, order);
      if (answer) send(client, {{"event", "result"}, {"id", id}, {"result", *answer}});
    } catch (const std::exception& error) {
      send(client, {{"event", "failed"}, {"id", id}, {"kind", "input"}, {"message", error.what()}});
    }
  }

  /// Nothing for a job, which is answered when it is done.
  std::optional<Json> answer_to(std::int64_t number, Client& client, const Json& id, const Json& order) {
    if (order.contains("job") && !order.contains("ask")) {
      jobs_.add({number, id}, order["job"]);
      return std::nullopt;
    }
    if (order.contains("cancel")) return drop(jobs_.cancel_of(number, order["cancel"]));
    if (order.contains("cancel_job")) {
      const int number_of_job = whole_number_of(order, "cancel_job", 1, std::numeric_limits<int>::max(), 0);
      const Json state = jobs_.tell(number_of_job)["state"];
      drop(jobs_.cancel(number_of_job));
      return Json{{"state", state}};
    }
    if (order.contains("follow")) {
      check_is_true(order, "follow");
      const std::lock_guard lock(mutex_);
      client.follows = true;
      return Json::object();
    }
    if (order.contains("stop")) {
      check_is_true(order, "stop");
      is_stopped_ = true;
      return Json::object();
    }
    if (order.contains("checkpoint")) {
      check_is_true(order, "checkpoint");
      notice_ = true;
      return Json::object();
    }
    if (order.contains("scale")) return scale(order["scale"]);
    const Json ask = order.value("ask", Json());
    if (ask == "job") return jobs_.tell(whole_number_of(order, "job", 1, std::numeric_limits<int>::max(), 0));
    if (ask == "status") {
      const std::lock_guard lock(mutex_);
      Json status = status_;
      status["jobs"] = jobs_.tell();
      return status;
    }
    if (!ask.is_null()) throw_input_error("ask is {}, allowed is \"status\" or \"job\"", to_text(ask));
    throw_input_error("an order has job, cancel, cancel_job, follow, stop, checkpoint, scale or ask");
  }

  Json scale(const Json& order) {
    const std::lock_guard lock(mutex_);
    if (!order.is_object()) throw_input_error("scale is {}, it must be an object", to_text(order));
    const int n_executors = whole_number_of(order, "executors", 1, kMostExecutors, wanted_.n_executors);
    const int least = whole_number_of(order, "least", 1, n_executors, std::min(wanted_.least, n_executors));
    wanted_ = {n_executors, least, wanted_.request + 1};
    return {{"executors", n_executors}, {"least", least}};
  }

  /// Tells those whose jobs will not begin.
  Json drop(const std::vector<Orderer>& dropped) {
    const std::lock_guard lock(mutex_);
    for (const Orderer& by : dropped) {
      const auto client = clients_.find(by.client);
      if (client == clients_.end()) continue;
      post(client->second, {{"event", "failed"}, {"id", by.id}, {"kind", "cancelled"}, {"message", "cancelled"}});
    }
    return Json::object();
  }

  void send(Client& client, const Json& event) {
    const std::lock_guard lock(mutex_);
    post(client, event);
  }

  Listener listener_;
  Bell bell_;
  const std::string name_;
  JobQueue jobs_;
  std::atomic<bool> is_stopped_ = false;
  std::atomic<bool> has_ended_ = false;
  std::atomic<bool> notice_ = false;
  mutable std::mutex mutex_;                // guards what follows, but for the thread's own reading of clients_
  std::map<std::int64_t, Client> clients_;  // added and erased by the thread alone
  std::int64_t last_client_ = 0;
  Wanted wanted_;
  Json status_;
  std::thread thread_;
};

/// Tells how a job goes, and whether to stop.
class JobEvents : public Progress {
 public:
  /// `refresh` is called with each report.
  JobEvents(Doorman& doorman, const JobQueue::Ordered& order, const ServerOptions& options,
            const std::function<void()>& refresh)
      : doorman_(doorman), order_(order), options_(options), refresh_(refresh) {}

  void report(const ProgressStep& step) override {
    phase_ = step.phase;
    refresh_();
    Json metrics = Json::object();
    for (const auto& [name, value] : step.metrics) metrics[name] = value;
    doorman_.jobs().note_step(order_.number, step);
    doorman_.tell(order_, {{"event", "progress"},
                           {"phase", step.phase},
                           {"done", step.done},
                           {"total", step.total},
                           {"metrics", std::move(metrics)}});
  }
  void warn(const std::string& message) override {
    options_.log(fmt::format("job {}: {}", order_.number, message));
    doorman_.jobs().note_line(order_.number, message);
    doorman_.tell(order_, {{"event", "warning"}, {"message", message}});
  }
  /// Training stops by itself; what does not is ended with its executors.
  bool stop_requested() override {
    const bool is_wanted = options_.stop() || doorman_.is_stopped() || doorman_.jobs().is_cancelled(order_.number);
    if (!is_wanted) return false;
    if (!since_wanted_) since_wanted_.emplace();
    if (phase_ != "train" && since_wanted_->seconds() > kPatienceSeconds) throw Interrupted();
    return true;
  }

 private:
  Doorman& doorman_;
  const JobQueue::Ordered& order_;
  const ServerOptions& options_;
  const std::function<void()>& refresh_;
  std::string phase_;
  std::optional<Stopwatch> since_wanted_;
};

/// While there is nothing to do.
class IdleEvents : public Progress {
 public:
  explicit IdleEvents(const ServerOptions& options) : options_(options) {}
  void warn(const std::string& message) override { options_.log(message); }
  bool stop_requested() override {
    if (options_.stop()) throw Interrupted();
    return false;
  }

 private:
  const ServerOptions& options_;
};

void do_job(Session& session, const JobQueue::Ordered& order, Doorman& doorman, SessionCounters& counters,
            const ServerOptions& options, const std::function<void()>& refresh) {
  using State = JobQueue::State;
  JobEvents events(doorman, order, options, refresh);
  std::string kind = "unknown";  // until it is known to be one: labels must stay few
  const auto finish = [&](State state, const std::string& message, const Json& metrics) {
    doorman.jobs().finish(order.number, state, message, metrics);
    counters.add_job(kind, JobQueue::word_of(state), metrics);
  };
  const auto fail = [&](State state, const char* failure, const std::string& message) {
    options.log(fmt::format("job {}: {}", order.number, message));
    finish(state, message, nullptr);
    doorman.tell(order, {{"event", "failed"}, {"kind", failure}, {"message", message}});
  };
  const std::string checkpoint = fmt::format("{}/{}.json", options.checkpoints, order.number);
  try {
    Job job = job_from_json(order.job);
    kind = to_json(job).at("kind").get<std::string>();
    auto* train = std::get_if<TrainJob>(&job);
    if (train != nullptr && train->checkpoint.empty()) train->checkpoint = checkpoint;
    Json result = session.run(job, events);
    finish(doorman.jobs().is_cancelled(order.number) ? State::kCancelled : State::kDone, "", result.at("metrics"));
    refresh();  // before the answer: its table is there
    doorman.tell(order, {{"event", "result"}, {"result", std::move(result)}});
  } catch (const InputError& error) {
    fail(State::kFailed, "input", error.what());
  } catch (const Error& error) {
    fail(State::kFailed, "internal", error.what());
  } catch (const Interrupted&) {
    fail(State::kCancelled, "cancelled", "cancelled");
  } catch (const std::exception& error) {  // of the libraries: no memory, a file system that fails
    fail(State::kFailed, "internal", error.what());
  }
  std::error_code ignored;
  std::filesystem::remove(checkpoint, ignored);
}

/// Counters that Prometheus scrapes by HTTP.
class Endpoint {
 public:
  Endpoint(const std::string& address, const SessionCounters& counters) try : exposer_(address, 1) {
    exposer_.RegisterCollectable(counters.all());
    url_ =
        fmt::format("http://{}:{}/metrics", address.substr(0, address.rfind(':')), exposer_.GetListeningPorts().at(0));
  } catch (const std::exception&) {  // of the HTTP library, without a cause
    throw_input_error("{} cannot be listened on: it is no address of this machine, or its port is taken", address);
  }
  const std::string& url() const { return url_; }

 private:
  prometheus::Exposer exposer_;
  std::string url_;
};

Json status_of(const Session& session, const SessionPlace& place, const std::optional<Endpoint>& endpoint) {
  Json tables = Json::array();
  for (const auto& [name, facts] : session.tables()) tables.push_back(facts);
  return {{"session", place.name()},
          {"process", getpid()},
          {"executors", session.n_executors()},
          {"cores", session.n_cores()},
          {"prometheus", endpoint ? Json(endpoint->url()) : Json()},
          {"tables", std::move(tables)}};
}

}  // namespace

void serve_session(SessionPlace& place, ServerOptions options) {
  place.take();
  SessionCounters counters;
  std::optional<Endpoint> endpoint;
  if (!options.prometheus.empty()) endpoint.emplace(options.prometheus, counters);
  IdleEvents idle(options);
  Doorman* at_the_door = nullptr;
  Session::Options wishes = options.session;
  wishes.wanted = [&] {
    return at_the_door == nullptr ? Wanted{wishes.n_executors, wishes.least} : at_the_door->wanted();
  };
  wishes.notice = [&] {
    const bool is_told = options.session.notice && options.session.notice();
    return (at_the_door != nullptr && at_the_door->take_notice()) || is_told;
  };
  Session session(wishes, idle);
  Doorman doorman(place, options.session.n_executors, options.session.least);
  at_the_door = &doorman;
  const std::function<void()> refresh = [&] {
    doorman.set_status(status_of(session, place, endpoint));
    counters.set_executors(session.n_executors());
  };
  options.log("ready");
  try {
    while (!doorman.is_stopped() && !options.stop()) {
      refresh();
      if (const auto order = doorman.jobs().next(kPollMs)) {
        do_job(session, *order, doorman, counters, options, refresh);
      } else {
        session.idle(idle);
      }
    }
  } catch (const Interrupted&) {
    // while a group was starting
  }
  session.end();
  options.log("ended");
}

}  // namespace podere::session
