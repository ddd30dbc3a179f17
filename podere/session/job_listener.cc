#include "podere/session/job_listener.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>
#include <utility>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/base/json_text.h"
#include "podere/jobs/event.h"
#include "podere/jobs/event_stream.h"

namespace podere::session {
namespace {

constexpr std::size_t kMostUnsentBytes = std::size_t{1} << 20;  // of a client whose next order is read
constexpr double kFarewellSeconds = 10;
constexpr auto kBetweenAttempts = std::chrono::milliseconds(10);

/// `fallback` where it is missing; 0 for one that must be there.
int whole_number_of(const Json& json, const char* name, int least, int most, int fallback) {
  if (!json.contains(name) && fallback > 0) return fallback;
  if (!json.contains(name)) throw_input_error("{} is missing", name);
  const Json& value = json[name];
  if (value.is_number_integer() && value >= least && value <= most) return value.get<int>();
  throw_input_error("{} is {}, allowed is a whole number from {} to {}", name, to_text(value), least, most);
}

report::RunTitle title_of(const Json& order) {
  const auto text = [&](const char* name) {
    return order.contains(name) && order[name].is_string() ? order[name].get<std::string>() : std::string();
  };
  return {.name = text("name"), .command = {}, .arguments = text("arguments")};
}

void check_is_true(const Json& order, const char* name) {
  if (order[name] != true) throw_input_error("{} is {}, allowed is true", name, to_text(order[name]));
}

}  // namespace

WakeUp::WakeUp() : descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (descriptor_ < 0) throw_error("eventfd: {}", std::strerror(errno));
}

WakeUp::~WakeUp() { close(descriptor_); }

void WakeUp::signal() const { eventfd_write(descriptor_, 1); }

void WakeUp::reset() const {
  eventfd_t ignored = 0;
  eventfd_read(descriptor_, &ignored);
}

JobListener::JobListener(const SessionPlace& place, int n_executors, int least, const report::LiveRuns& runs)
    : listener_(place.socket()), name_(place.name()), runs_(runs), wanted_{n_executors, least} {}

void JobListener::listen() {
  thread_ = std::thread([this] { watch(); });
}

JobListener::~JobListener() {
  has_ended_ = true;
  wake_up_.signal();
  if (thread_.joinable()) thread_.join();
}

Wanted JobListener::wanted() const {
  const std::lock_guard lock(mutex_);
  return wanted_;
}

void JobListener::set_status(Json status) {
  const std::lock_guard lock(mutex_);
  status_ = std::move(status);
}

Json JobListener::status() const {
  const std::lock_guard lock(mutex_);
  Json status = status_;
  status["jobs"] = jobs_.describe();
  return status;
}

void JobListener::report(const JobQueue::Ordered& order, Json event) {
  event["job"] = order.number;
  event["id"] = order.by.id;
  const std::lock_guard lock(mutex_);
  if (const auto by = clients_.find(order.by.client); by != clients_.end()) post(by->second, event);
  event["id"] = nullptr;
  event.erase("result");  // models are for who ordered them
  for (auto& [number, client] : clients_) {
    if (number != order.by.client && client.follows) post(client, event);
  }
}

void JobListener::watch() {
  while (!has_ended_) {
    const bool wants_to_connect = wait_for_clients(true);
    if (wants_to_connect && !accept()) std::this_thread::sleep_for(kBetweenAttempts);  // too many are in
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
  flush_clients();
}

bool JobListener::wait_for_clients(bool listens) {
  std::vector<pollfd> waiting = {{.fd = wake_up_.descriptor(), .events = POLLIN, .revents = 0},
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
  poll(waiting.data(), waiting.size(), jobs::kPollMs);
  wake_up_.reset();
  return waiting[1].revents != 0;
}

bool JobListener::serve(std::int64_t number, Client& client) {
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

void JobListener::flush_clients() {
  const Stopwatch watch;
  const auto has_unsent = [&](auto& entry) {
    return entry.second.socket.flush() && entry.second.socket.n_unsent_bytes() > 0;
  };
  while (std::ranges::any_of(clients_, has_unsent) && watch.seconds() < kFarewellSeconds) wait_for_clients(false);
}

bool JobListener::accept() {
  auto socket = listener_.accept();
  if (!socket) return false;
  const std::lock_guard lock(mutex_);
  Client& client = clients_[++last_client_];
  client.socket = std::move(*socket);
  post(client, {{"event", "ready"},
                {"protocol", jobs::kProtocolVersion},
                {"session", name_},
                {"executors", wanted_.n_executors},
                {"version", PODERE_VERSION}});
  return true;
}

void JobListener::post(Client& client, const Json& event) {
  client.socket.post_line(to_text(event));
  if (client.socket.n_unsent_bytes() > 0) wake_up_.signal();
}

void JobListener::take(std::int64_t number, Client& client, const std::string& line) {
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

std::optional<Json> JobListener::answer_to(std::int64_t number, Client& client, const Json& id, const Json& order) {
  if (order.contains("job") && !order.contains("ask")) {
    const std::int64_t job = jobs_.add({number, id}, order["job"], title_of(order));
    send(client, {{"event", "queued"}, {"id", id}, {"job", job}, {"ahead", jobs_.n_ahead_of(job)}});
    return std::nullopt;
  }
  if (order.contains("cancel")) return drop(jobs_.cancel_of(number, order["cancel"]));
  if (order.contains("cancel_job")) {
    const int number_of_job = whole_number_of(order, "cancel_job", 1, std::numeric_limits<int>::max(), 0);
    const Json state = jobs_.describe(number_of_job)["state"];
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
  if (ask == "run") {
    const int job = whole_number_of(order, "job", 1, std::numeric_limits<int>::max(), 0);
    const auto run = runs_.text(job);
    if (!run) throw_input_error("there is no run of job {}: it has not begun, or it is no longer kept", job);
    return Json::parse(*run);
  }
  if (ask == "job") return jobs_.describe(whole_number_of(order, "job", 1, std::numeric_limits<int>::max(), 0));
  if (ask == "status") return status();
  if (!ask.is_null()) throw_input_error("ask is {}, allowed is \"status\", \"job\" or \"run\"", to_text(ask));
  throw_input_error("an order has job, cancel, cancel_job, follow, stop, checkpoint, scale or ask");
}

Json JobListener::scale(const Json& order) {
  const std::lock_guard lock(mutex_);
  if (!order.is_object()) throw_input_error("scale is {}, it must be an object", to_text(order));
  const int n_executors = whole_number_of(order, "executors", 1, kMostExecutors, wanted_.n_executors);
  const int least = whole_number_of(order, "least", 1, n_executors, std::min(wanted_.least, n_executors));
  wanted_ = {n_executors, least, wanted_.request + 1};
  return {{"executors", n_executors}, {"least", least}};
}

Json JobListener::drop(const std::vector<Orderer>& dropped) {
  const std::lock_guard lock(mutex_);
  for (const Orderer& by : dropped) {
    const auto client = clients_.find(by.client);
    if (client == clients_.end()) continue;
    post(client->second, {{"event", "failed"}, {"id", by.id}, {"kind", "cancelled"}, {"message", "cancelled"}});
  }
  return Json::object();
}

void JobListener::send(Client& client, const Json& event) {
  const std::lock_guard lock(mutex_);
  post(client, event);
}

}  // namespace podere::session
