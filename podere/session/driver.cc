#include "podere/session/driver.h"

#include <limits>
#include <regex>
#include <string_view>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/session/event_stream.h"

namespace podere::session {
namespace {

constexpr int kPollMs = 100;
constexpr int kEndMs = 5000;
constexpr int kStartSeconds = 60;
constexpr std::size_t kKeptErrorLines = 60;

ProgressStep step_of(const Json& event) {
  ProgressStep step{
      event.value("phase", ""), event.value("done", std::size_t{0}), event.value("total", std::size_t{0}), {}};
  const Json metrics = event.value("metrics", Json::object());
  for (const auto& [name, value] : metrics.items()) {
    step.metrics.emplace_back(name, value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN());
  }
  return step;
}

[[noreturn]] void throw_failure(const Json& event) {
  const auto message = event.value("message", "a job failed without saying why");
  if (event.value("kind", "") == "input") throw InputError(message);
  throw Error(message);
}

}  // namespace

Driver::Driver(const CommandLine& executors, Options options, Progress& progress)
    : options_(std::move(options)), executors_(executors) {
  const Stopwatch watch;
  Json event;
  while (event.empty()) {
    progress.stop_requested();
    event = next_event();
    if (event.empty() && watch.seconds() > kStartSeconds) {
      throw_error("the executors did not come up within {} s{}", kStartSeconds, last_words());
    }
  }
  if (event.value("event", "") == "failed") throw_failure(event);
  const int n_executors = event.value("executors", 0);
  if (event.value("event", "") != "ready" || event.value("protocol", 0) != kProtocolVersion) {
    throw_error("the executors do not speak this version of the protocol: {}", event.dump());
  }
  if (n_executors != options_.n_executors) {
    throw_error("asked for one group of {} executors, got groups of {}", options_.n_executors, n_executors);
  }
}

Json Driver::run(const Job& job, Progress& progress) {
  const Json id = ++last_id_;
  try {
    executors_.send_line(Json{{"id", id}, {"job", to_json(job)}}.dump());
  } catch (const Json::type_error&) {
    throw InputError("a file or column name is not UTF-8: rename it");
  }
  bool is_cancelled = false;
  while (true) {
    if (!is_cancelled && progress.stop_requested()) {
      executors_.send_line(Json{{"cancel", id}}.dump());
      is_cancelled = true;
    } else if (is_cancelled) {
      progress.stop_requested();  // may throw at the user's second wish
    }
    Json event = next_event();
    const auto kind = event.value("event", "");
    // A failure without an id is about an order that executors could not read.
    if (kind == "failed" && (event.value("id", Json()) == id || event.value("id", Json()).is_null())) {
      throw_failure(event);
    }
    if (event.value("id", Json()) != id) continue;
    if (kind == "progress") progress.report(step_of(event));
    if (kind == "result") return std::move(event["result"]);
  }
}

void Driver::end() {
  executors_.send_line(Json{{"end", true}}.dump());
  // Who ends may still have something to say, and cannot end before it is read.
  const Stopwatch watch;
  while (!executors_.streams_ended() && watch.seconds() * 1000 < kEndMs) {
    const auto line = executors_.next_line(kPollMs);
    if (line && line->stream == Subprocess::Stream::kError) keep_error_line(line->text);
  }
  executors_.wait(kPollMs);
  executors_.terminate();
}

Json Driver::next_event() {
  while (const auto line = executors_.next_line(kPollMs)) {
    if (line->stream == Subprocess::Stream::kError) {
      keep_error_line(line->text);
      continue;
    }
    // Half a line that another rank's failure cut through is no event.
    Json event = Json::parse(line->text, nullptr, false);
    if (event.is_object() && event.contains("event")) return event;
  }
  if (executors_.streams_ended()) throw_cause_of_death();
  return Json::object();
}

void Driver::keep_error_line(const std::string& line) {
  if (options_.on_error_line) options_.on_error_line(line);
  last_error_lines_.push_back(line);
  if (last_error_lines_.size() > kKeptErrorLines) last_error_lines_.pop_front();
}

void Driver::throw_cause_of_death() {
  static const std::regex by_signal("process rank ([0-9]+) .*exited on signal ([0-9]+)");
  const int exit_code = executors_.wait(kEndMs).value_or(-1);
  std::smatch match;
  for (const std::string& line : last_error_lines_) {
    if (std::regex_search(line, match, by_signal)) {
      throw_error("executor {} was killed by signal {}{}", match[1].str(), match[2].str(),
                  match[2] == "9" ? " (perhaps there was not enough memory)" : "");
    }
  }
  if (exit_code > 128) throw_error("the executors were killed by signal {}", exit_code - 128);
  const std::string words = last_words();
  throw_error("the executors ended too early{}", words.empty() ? fmt::format(", with exit code {}", exit_code) : words);
}

std::string Driver::last_words() const {
  for (auto line = last_error_lines_.rbegin(); line != last_error_lines_.rend(); ++line) {
    if (line->find_first_not_of(" -\t") != std::string::npos) return ": " + *line;
  }
  return "";
}

}  // namespace podere::session
