#include "podere/session/driver.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/base/machine.h"
#include "podere/jobs/event.h"
#include "podere/jobs/event_stream.h"
#include "podere/launch/words.h"

namespace podere::session {
namespace {

constexpr int kEndMs = 5000;
constexpr double kMpirunSeconds = 1;  // from mpirun's word that the group is over to its end
constexpr double kDeathSeconds = 2;
constexpr double kMostSlowness = 10;
constexpr std::size_t kKeptErrorLines = 60;
constexpr int kMostErrorLines = 10000;  // at once: others may have fallen silent, or have something to report

/// The state of a process or thread, whose folder in /proc this is; 'X' where it is gone.
char state_in(const std::filesystem::path& folder) {
  std::ifstream file(folder / "stat");  // "123 (name) S ..."
  std::string line;
  std::getline(file, line);
  const auto name_end = line.rfind(')');
  return name_end != std::string::npos && name_end + 2 < line.size() ? line[name_end + 2] : 'X';
}

/// Whether a process of this machine is there and neither stopped nor at its end. 0 is none.
bool can_run(pid_t process) {
  return process > 0 &&
         std::string_view("TtZXx").find(state_in(fmt::format("/proc/{}", process))) == std::string_view::npos;
}

/// Whether a thread of the process has not ended: as long, it holds its files and locks. 0 is none.
bool has_threads(pid_t process) {
  std::error_code gone;
  const std::filesystem::directory_iterator end;
  for (std::filesystem::directory_iterator thread(fmt::format("/proc/{}/task", process), gone); !gone && thread != end;
       thread.increment(gone)) {
    if (std::string_view("ZXx").find(state_in(thread->path())) == std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

double load_per_core() {
  double load = 0;  // of the last minute
  static const int kCores = this_machine().usable_cores();
  return getloadavg(&load, 1) == 1 ? load / kCores : 1;
}

Driver::Driver(const CommandLine& executors, Options options, Progress& progress)
    : options_(std::move(options)), executors_(executors), signs_(static_cast<std::size_t>(options_.n_executors)) {
  try {
    await_start(progress);
  } catch (...) {
    end_at_once();
    throw;
  }
}

Driver::~Driver() { end_at_once(); }

void Driver::end_at_once() {
  executors_.terminate();
  // What started them may have been killed: they die with it, but not in the same moment.
  const auto is_there = [](const Sign& sign) { return has_threads(sign.process); };
  for (const Stopwatch watch; std::ranges::any_of(signs_, is_there) && watch.seconds() < kDeathSeconds;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

void Driver::await_start(Progress& progress) {
  const Stopwatch watch;
  Json event;
  while (event.empty()) {
    progress.stop_requested();
    event = next_event(jobs::kPollMs);
    const double seconds = watch.seconds();
    if (event.empty() && seconds > options_.start_seconds && seconds > options_.start_seconds * slowness()) {
      const std::string words = meaningful_words();
      throw GroupLost("the executors", fmt::format("not up within {:g} s{}{}", options_.start_seconds,
                                                   words.empty() ? "" : ": ", words));
    }
  }
  is_up_ = true;
  for (Sign& sign : signs_) sign.since.restart();
  const auto kind = jobs::take(event, "event", std::string());
  if (kind == "failed") jobs::throw_failure(event);
  const int n_executors = jobs::take(event, "executors", 0);
  if (kind != "ready" || jobs::take(event, "protocol", 0) != jobs::kProtocolVersion) {
    throw_error("the executors do not speak this version of the protocol: {}", event.dump());
  }
  if (n_executors != options_.n_executors) {
    throw_error("asked for one group of {} executors, got groups of {}{}{}", options_.n_executors, n_executors,
                options_.advice.empty() ? "" : ": ", options_.advice);
  }
  n_cores_ = jobs::take(event, "cores", 0);
}

std::vector<ExecutorSign> Driver::executors() const {
  std::vector<ExecutorSign> executors;
  for (const Sign& sign : signs_) {
    executors.push_back(sign.reported);
    executors.back().silent_seconds = sign.since.seconds();
  }
  return executors;
}

Json Driver::run(const jobs::Job& job, Progress& progress, const ControlRequests& requests) {
  const Json id = ++last_id_;
  executors_.send_line(jobs::order_line(id, job));
  const bool keeps_checkpoints = !job.path(jobs::PathUse::kCheckpoint).empty();
  bool has_begun = false;  // before, executors would take these for orders about a job that waits
  bool is_cancelled = false;
  bool is_paused = false;
  const auto order = [&](const char* what) { executors_.send_line(Json{{what, id}}.dump()); };
  while (true) {
    // Asked again after a yes, which may throw: the user's second request.
    const bool is_to_stop = progress.stop_requested();
    if (has_begun && is_to_stop && !std::exchange(is_cancelled, true)) order("cancel");
    if (has_begun && keeps_checkpoints && requests.checkpoint()) order("checkpoint");
    if (has_begun && keeps_checkpoints && !is_paused && requests.pause()) {
      order("pause");
      is_paused = true;
    }
    Json event = next_event(jobs::kPollMs);
    const auto kind = jobs::take(event, "event", std::string());
    // A failure without an id is about an order that executors could not read.
    if (kind == "failed" && (event.value("id", Json()) == id || event.value("id", Json()).is_null())) {
      jobs::throw_failure(event);
    }
    if (event.value("id", Json()) != id) continue;
    has_begun = true;
    if (kind == "progress") progress.report(jobs::step_of(event));
    if (kind == "warning") progress.warn(jobs::take(event, "message", std::string()));
    if (kind == "result") return jobs::take(event, "result", Json::object());
  }
}

void Driver::idle(int timeout_ms) {
  const Stopwatch watch;
  do {
    next_event(timeout_ms);
  } while (watch.seconds() * 1000 < timeout_ms);
}

void Driver::end() {
  executors_.send_line(Json{{"end", true}}.dump());
  // Who ends may still have something to say, and cannot end before it is read.
  const Stopwatch watch;
  while (!executors_.streams_ended() && watch.seconds() * 1000 < kEndMs) {
    const auto line = executors_.next_line(jobs::kPollMs);
    if (line && line->stream == Subprocess::Stream::kError) keep_error_line(line->text);
  }
  executors_.wait(jobs::kPollMs);
  executors_.terminate();
}

Json Driver::next_event(int timeout_ms) {
  auto line = executors_.next_line(timeout_ms);
  for (int n = 0; n < kMostErrorLines && line && line->stream == Subprocess::Stream::kError; ++n) {
    keep_error_line(line->text);
    line = executors_.next_line(0);
  }
  if (line && line->stream == Subprocess::Stream::kOutput) {
    // Half a line that another rank's failure cut through is no event.
    Json event = Json::parse(line->text, nullptr, false);
    return event.is_object() && event.contains("event") ? event : Json::object();
  }
  if (line) keep_error_line(line->text);
  // Open MPI 4.1 may hang once it has reported that the group is over.
  const bool hangs = since_end_was_reported_ && since_end_was_reported_->seconds() > kMpirunSeconds;
  if (!line && (executors_.streams_ended() || hangs)) throw_cause_of_death();
  check_heartbeats();
  return Json::object();
}

void Driver::check_heartbeats() {
  if (options_.silence_seconds <= 0 || !is_up_) return;
  // Who was stopped (Ctrl-Z), or busy otherwise, has yet to read what they sent meanwhile.
  if (since_listened_.restart() > options_.silence_seconds / 2) {
    for (Sign& sign : signs_) sign.since.restart();
  }
  for (std::size_t rank = 0; rank < signs_.size(); ++rank) {
    const double seconds = signs_[rank].since.seconds();
    if (seconds < options_.silence_seconds || seconds < options_.silence_seconds * slowness()) continue;
    if (can_run(signs_[rank].process) && seconds < options_.silence_seconds * kMostSlowness) continue;
    executors_.terminate();
    throw GroupLost(fmt::format("executor {}", rank), fmt::format("silent for {:g} s", options_.silence_seconds));
  }
}

double Driver::slowness() const { return std::clamp(options_.load(), 1.0, kMostSlowness); }

void Driver::keep_error_line(const std::string& line) {
  if (line.starts_with(jobs::kAlive)) {
    std::istringstream words(line.substr(jobs::kAlive.size()));
    std::size_t rank = 0;
    if (!(words >> rank) || rank >= signs_.size()) return;
    signs_[rank].since.restart();
    ExecutorSign reported;
    if (words >> reported.process >> reported.host) {
      if (reported.host == jobs::host_name()) signs_[rank].process = reported.process;
      words >> reported.memory_bytes >> reported.phase;
      signs_[rank].reported = std::move(reported);
    }
    return;
  }
  if (options_.on_error_line) options_.on_error_line(line);
  if (launch::reports_the_end(line)) since_end_was_reported_.emplace();
  last_error_lines_.push_back(line);
  if (last_error_lines_.size() > kKeptErrorLines) last_error_lines_.pop_front();
}

void Driver::throw_cause_of_death() {
  const int exit_code = executors_.wait(executors_.streams_ended() ? kEndMs : 0).value_or(-1);
  if (const auto loss = launch::find_loss(last_error_lines_)) throw GroupLost(loss->who, loss->how);
  std::string words = meaningful_words();
  // mpirun that could not start the executors ends with a code beyond 128 as well.
  if (exit_code > 128 && (is_up_ || words.empty())) {
    // Of several, what was killed is that which started them.
    throw GroupLost(options_.n_executors == 1 ? "executor 0" : "the executors",
                    fmt::format("killed by signal {}", exit_code - 128));
  }
  if (!is_up_ && launch::reports_a_silent_end(last_error_lines_)) {
    throw GroupLost("the executors", "one ended before it was ready");
  }
  const bool is_explained = !words.empty();
  if (!is_explained) words = fmt::format("exit code {}", exit_code);
  if (is_up_) throw GroupLost("the executors", words);
  if (launch::reports_no_group(last_error_lines_)) {
    throw_error("the executors could not be started as one group: {}",
                options_.advice.empty() ? words : options_.advice);
  }
  throw GroupLost("the executors", fmt::format("could not be started: {}", words), is_explained);
}

std::string Driver::meaningful_words() const {
  if (is_up_) return launch::last_words(last_error_lines_);
  const std::string first = launch::first_words(last_error_lines_);
  return first.empty() || options_.on_error_line ? first : first + " (--debug shows all output)";
}

}  // namespace podere::session
