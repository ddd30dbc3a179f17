#include "podere/session/server.h"

#include <poll.h>
#include <prometheus/exposer.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
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
constexpr double kPatienceSeconds = 3;  // with a cancelled job that cannot stop by itself

std::string to_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

int whole_number_of(const Json& json, const char* name, int least, int most, int fallback) {
  if (!json.contains(name)) return fallback;
  const Json& value = json[name];
  if (value.is_number_integer() && value >= least && value <= most) return value.get<int>();
  throw_input_error("{} is {}, allowed is a whole number from {} to {}", name, to_text(value), least, most);
}

/// Lets clients in, hears their orders on a thread of its own, and tells them what becomes of those. Thread-safe.
class Doorman {
 public:
  Doorman(const SessionPlace& place, int n_executors, int least)
      : listener_(place.socket()), name_(place.name()), wanted_{n_executors, least}, thread_([this] { watch(); }) {}
  ~Doorman() {
    has_ended_ = true;
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
      client.socket.send_line(to_text(copy));
    }
  }

 private:
  struct Client {
    LineSocket socket;
    bool follows = false;
  };

  void watch() {
    while (!has_ended_) {
      std::vector<pollfd> waiting = {{.fd = listener_.descriptor(), .events = POLLIN, .revents = 0}};
      for (const auto& [number, client] : clients_) waiting.push_back({client.socket.descriptor(), POLLIN, 0});
      if (poll(waiting.data(), waiting.size(), kPollMs) <= 0) continue;
      let_in();
      std::vector<std::int64_t> gone;
      for (auto& [number, client] : clients_) {
        if (!client.socket.receive(0)) gone.push_back(number);
        while (const auto line = client.socket.take_line()) take(number, client, *line);
      }
      for (const std::int64_t number : gone) {
        jobs_.cancel_of(number, std::nullopt);
        const std::lock_guard lock(mutex_);
        clients_.erase(number);
      }
    }
  }

  void let_in() {
    auto socket = listener_.accept();
    if (!socket) return;
    const std::lock_guard lock(mutex_);
    socket->send_line(to_text({{"event", "ready"},
                               {"protocol", kProtocolVersion},
                               {"session", name_},
                               {"executors", wanted_.n_executors},
                               {"version", PODERE_VERSION}}));
    clients_.emplace(++last_client_, Client{std::move(*socket)});
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
      return drop(jobs_.cancel(whole_number_of(order, "cancel_job", 1, std::numeric_limits<int>::max(), 0)));
    }
    if (order.contains("follow")) {
      client.follows = true;
      return Json::object();
    }
    if (order.contains("stop")) {
      is_stopped_ = true;
      return Json::object();
    }
    if (order.contains("checkpoint")) {
      notice_ = true;
      return Json::object();
    }
    if (order.contains("scale")) return scale(order["scale"]);
    if (order.value("ask", "") == "job") {
      return jobs_.tell(whole_number_of(order, "job", 1, std::numeric_limits<int>::max(), 0));
    }
    if (order.value("ask", "") == "status") {
      const std::lock_guard lock(mutex_);
      Json status = status_;
      status["jobs"] = jobs_.tell();
      return status;
    }
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
      client->second.socket.send_line(
          to_text({{"event", "failed"}, {"id", by.id}, {"kind", "cancelled"}, {"message", "cancelled"}}));
    }
    return Json::object();
  }

  void send(Client& client, const Json& event) {
    const std::lock_guard lock(mutex_);
    client.socket.send_line(to_text(event));
  }

  Listener listener_;
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
        session.idle(0, idle);
      }
    }
  } catch (const Interrupted&) {
    // while a group was starting
  }
  session.end();
  options.log("ended");
}

}  // namespace podere::session
