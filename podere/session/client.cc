#include "podere/session/client.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/interrupt.h"
#include "podere/base/printable.h"
#include "podere/jobs/event.h"
#include "podere/session/session_folder.h"

namespace podere::session {
namespace {

constexpr int kHelloMs = 5000;
constexpr std::size_t kMostShownBytes = 10000;  // of a title

LineSocket connect(const std::string& name) {
  const SessionPlace place(name);
  if (auto socket = LineSocket::connect(place.socket())) return std::move(*socket);
  if (const pid_t process = place.holder(); process > 0) {
    throw_input_error(
        "the session {} (process {}) is starting, or ending: try again, or end it by podere session stop {}", name,
        process, name);
  }
  const auto names = sessions();
  throw_input_error(
      "there is no session called {}; there {}", name,
      names.empty() ? "is none: podere session start makes one" : fmt::format("is {}", fmt::join(names, ", ")));
}

}  // namespace

jobs::Job with_absolute_paths(jobs::Job job) {
  for (source::SourceSpec* source : job.sources()) source::make_absolute(*source);
  for (const auto& [use, path] : job.paths()) *path = std::filesystem::absolute(*path).string();
  return job;
}

Client::Client(const std::string& name) : name_(name), socket_(connect(name)) {
  socket_.receive(kHelloMs);
  const auto hello = socket_.take_line();
  const Json event = hello ? Json::parse(*hello, nullptr, false) : Json();
  if (!event.is_object() || event.value("event", "") != "ready") throw_error("the session {} does not answer", name);
  if (event.value("version", "") != PODERE_VERSION) {
    throw_input_error("the session {} is of Podere {}, this is {}: stop it and start it anew", name,
                      event.value("version", "?"), PODERE_VERSION);
  }
}

Json Client::next_event() {
  if (const auto line = socket_.take_line()) {
    Json event = Json::parse(*line, nullptr, false);
    return event.is_object() ? event : Json::object();
  }
  if (!socket_.receive(jobs::kPollMs)) throw_error("the session {} has ended", name_);
  return Json::object();
}

Json Client::run(const jobs::Job& job, Progress& progress, const report::RunTitle& title, const Queued& queued) {
  const Json id = ++last_id_;
  const Json shown = {{"name", printable_line(title.name, kMostShownBytes)},
                      {"arguments", printable_line(title.arguments, kMostShownBytes)}};
  socket_.send_line(jobs::order_line(id, with_absolute_paths(job), shown));
  bool is_cancelled = false;
  while (true) {
    if (progress.stop_requested() && !std::exchange(is_cancelled, true)) socket_.send_line(Json{{"cancel", id}}.dump());
    Json event = next_event();
    if (event.value("id", Json()) != id) continue;
    const auto kind = event.value("event", "");
    if (kind == "failed" && event.value("kind", "") == "cancelled") throw Interrupted();
    if (kind == "failed") jobs::throw_failure(event);
    if (kind == "queued" && queued) queued(event.value("job", std::int64_t{0}), event.value("ahead", std::size_t{0}));
    if (kind == "progress") progress.report(jobs::step_of(event));
    if (kind == "warning") progress.warn(event.value("message", ""));
    if (kind == "result") return std::move(event["result"]);
  }
}

Json Client::ask(Json order) {
  const Json id = ++last_id_;
  order["id"] = id;
  socket_.send_line(to_text(order));
  while (true) {
    Json event = next_event();
    if (event.value("id", Json()) != id) continue;
    if (event.value("event", "") == "failed") jobs::throw_failure(event);
    return std::move(event["result"]);
  }
}

bool Client::follow(const std::function<bool(const Json&)>& take) {
  ask({{"follow", true}});
  while (true) {
    try {
      if (!take(next_event())) return true;
    } catch (const Error&) {
      return false;
    }
  }
}

}  // namespace podere::session
