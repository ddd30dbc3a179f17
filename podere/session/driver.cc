#include "podere/session/driver.h"

#include <algorithm>
#include <regex>
#include <string_view>
#include <type_traits>
#include <utility>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/base/number.h"
#include "podere/session/event_stream.h"

namespace podere::session {
namespace {

constexpr int kPollMs = 100;
constexpr int kEndMs = 5000;
constexpr int kStartSeconds = 60;
constexpr double kMpirunSeconds = 1;  // from mpirun's word that the group is over to its end
constexpr std::size_t kKeptErrorLines = 60;

constexpr std::size_t kShownBytes = 100;

/// Takes the member `name` out of an event; `fallback` if there is none. Throws Error if it is of another type.
template <typename T>
T take(Json& event, const char* name, T fallback) {
  const auto found = event.find(name);
  if (found == event.end()) return fallback;
  bool fits = false;
  if constexpr (std::is_same_v<T, std::string>) fits = found->is_string();
  if constexpr (std::is_same_v<T, Json>) fits = found->is_object();
  if constexpr (std::is_integral_v<T>)
    fits = found->is_number_unsigned() && std::in_range<T>(found->get<std::uint64_t>());
  if constexpr (std::is_same_v<T, Json>) {
    if (fits) return std::move(*found);  // it may be a whole model
  } else if (fits) {
    return found->template get<T>();
  }
  throw_error("the executors answered something else than the protocol has: {} is {}", name,
              found->dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, kShownBytes));
}

ProgressStep step_of(Json& event) {
  ProgressStep step{take(event, "phase", std::string()),
                    take(event, "done", std::size_t{0}),
                    take(event, "total", std::size_t{0}),
                    {}};
  const Json metrics = take(event, "metrics", Json::object());
  for (const auto& [name, value] : metrics.items()) {
    step.metrics.emplace_back(name, real(value));
  }
  return step;
}

[[noreturn]] void throw_failure(Json& event) {
  const auto message = take<std::string>(event, "message", "a job failed without saying why");
  if (take(event, "kind", std::string()) == "input") throw InputError(message);
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
      const std::string words = telling_words();
      throw_error("the executors did not come up within {} s{}{}", kStartSeconds, words.empty() ? "" : ": ", words);
    }
  }
  is_up_ = true;
  since_heard_of_.resize(static_cast<std::size_t>(options_.n_executors));
  const auto kind = take(event, "event", std::string());
  if (kind == "failed") throw_failure(event);
  const int n_executors = take(event, "executors", 0);
  if (kind != "ready" || take(event, "protocol", 0) != kProtocolVersion) {
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
    const auto kind = take(event, "event", std::string());
    // A failure without an id is about an order that executors could not read.
    if (kind == "failed" && (event.value("id", Json()) == id || event.value("id", Json()).is_null())) {
      throw_failure(event);
    }
    if (event.value("id", Json()) != id) continue;
    if (kind == "progress") progress.report(step_of(event));
    if (kind == "warning") progress.warn(take(event, "message", std::string()));
    if (kind == "result") return take(event, "result", Json::object());
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
  const auto line = executors_.next_line(kPollMs);
  if (line && line->stream == Subprocess::Stream::kOutput) {
    // Half a line that another rank's failure cut through is no event.
    Json event = Json::parse(line->text, nullptr, false);
    return event.is_object() && event.contains("event") ? event : Json::object();
  }
  if (line) keep_error_line(line->text);
  // Open MPI 4.1 may hang once it has told that the group is over.
  const bool hangs = since_end_was_told_ && since_end_was_told_->seconds() > kMpirunSeconds;
  if (!line && (executors_.streams_ended() || hangs)) throw_cause_of_death();
  check_heartbeats();
  return Json::object();
}

void Driver::check_heartbeats() {
  if (options_.silence_seconds <= 0) return;
  for (std::size_t rank = 0; rank < since_heard_of_.size(); ++rank) {
    if (since_heard_of_[rank].seconds() < options_.silence_seconds) continue;
    executors_.terminate();
    throw GroupLost(fmt::format("executor {}", rank), fmt::format("silent for {:g} s", options_.silence_seconds));
  }
}

void Driver::keep_error_line(const std::string& line) {
  if (line.starts_with(kAlive)) {
    const auto rank = parse_count(std::string_view(line).substr(kAlive.size()));
    if (rank && *rank < since_heard_of_.size()) since_heard_of_[*rank].restart();
    return;
  }
  if (options_.on_error_line) options_.on_error_line(line);
  if (line.starts_with("mpirun noticed that") || line.starts_with("mpirun detected that"))
    since_end_was_told_.emplace();
  last_error_lines_.push_back(line);
  if (last_error_lines_.size() > kKeptErrorLines) last_error_lines_.pop_front();
}

void Driver::throw_cause_of_death() {
  static const std::regex by_signal("process rank ([0-9]+) .*exited on signal ([0-9]+)");
  const int exit_code = executors_.wait(executors_.streams_ended() ? kEndMs : 0).value_or(-1);
  std::smatch match;
  for (const std::string& line : last_error_lines_) {
    if (std::regex_search(line, match, by_signal)) {
      throw GroupLost("executor " + match[1].str(), "killed by signal " + match[2].str());
    }
  }
  if (exit_code > 128) {
    // Of several, what was killed is that which started them.
    throw GroupLost(options_.n_executors == 1 ? "executor 0" : "the executors",
                    fmt::format("killed by signal {}", exit_code - 128));
  }
  std::string words = telling_words();
  if (words.empty()) words = fmt::format("exit code {}", exit_code);
  if (is_up_) throw GroupLost("the executors", words);
  throw_error("the executors could not be started: {}", words);
}

std::string Driver::telling_words() const {
  const auto has_words = [](const std::string& line) { return line.find_first_not_of(" -\t") != std::string::npos; };
  const auto first = std::ranges::find_if(last_error_lines_, has_words);
  if (first == last_error_lines_.end()) return "";
  // What MPI says first when it cannot start is the cause, the rest is what came of it.
  if (!is_up_) return *first + (options_.on_error_line ? "" : " (--debug shows all that was said)");
  return *std::find_if(last_error_lines_.rbegin(), last_error_lines_.rend(), has_words);
}

}  // namespace podere::session
