#include "podere/cli/job_progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "podere/cli/print.h"
#include "podere/report/run_recorder.h"

namespace podere::cli {
namespace {

constexpr double kDrawInterval = 0.1;  // seconds
constexpr std::size_t kBarCells = 24;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::size_t terminal_width() {
  winsize size = {};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string bar(const ProgressStep& step) {
  const std::size_t n = step.total == 0 ? 0 : std::min(kBarCells, kBarCells * step.done / step.total);
  std::string full;
  for (std::size_t i = 0; i < n; ++i) full += "━";
  std::string rest;
  for (std::size_t i = n; i < kBarCells; ++i) rest += "─";
  return variable("NO_COLOR").empty() ? "\x1b[32m" + full + "\x1b[0m" + rest : full + rest;
}

std::string plural(const std::string& unit) { return unit + (unit.ends_with('s') ? "es" : "s"); }

/// Whether there is more to show than the phase.
bool is_counted(const ProgressStep& step) { return step.total > 1 || (step.total == 0 && !step.unit.empty()); }

std::string number_text(double value) {
  if (value != 0 && std::fabs(value) < 1e-3) return fmt::format("{:.1e}", value);
  return fmt::format("{:.{}f}", value, value == std::floor(value) ? 0 : 4);
}

std::string left_text(double seconds) { return seconds < 0 ? "" : ", " + duration(seconds) + " left"; }

}  // namespace

std::string step_text(const ProgressStep& step) {
  const std::string unit = !step.unit.empty()         ? plural(step.unit)
                           : step.phase == "train"    ? "trees"
                           : step.phase == "generate" ? "events"
                           : step.phase == "explain"  ? "rows"
                           : step.phase == "permute"  ? "shuffles"
                           : step.phase == "evaluate" ? "stages"
                                                      : "steps";
  if (step.total <= 1 && (unit == "steps" || unit == "stages")) return step.phase;
  std::string text = with_commas(step.done);
  if (step.total > 0) text += " of " + with_commas(step.total);
  text += " " + unit;
  for (const auto& [name, value] : step.metrics) text += fmt::format(", {} {}", in_words(name), number_text(value));
  return text;
}

JobProgress::Style JobProgress::style_for(const OutputOptions& output) {
  if (isatty(STDERR_FILENO) && variable("TERM") != "dumb") return Style::kBar;
  return output.json ? Style::kNone : Style::kLines;
}

void JobProgress::report(const ProgressStep& step) {
  // There are trees after the first; a network, whose steps are counted, is one from the start; folds and trials are
  // kept.
  const bool is_kept = step.phase == "folds" || step.phase == "tune";
  has_something_ = has_something_ || is_kept || (step.phase == "train" && (step.done > 0 || !step.unit.empty()));
  const bool is_new = step.phase != phase_;
  if (is_new) {
    phase_ = step.phase;
    first_done_ = step.done;
    in_phase_.restart();
  }
  const std::string left = left_text(report::seconds_left(step, first_done_, in_phase_.seconds()));
  if (style_ == Style::kLines && is_counted(step) && since_line_.seconds() >= seconds_between_lines_) {
    since_line_.restart();
    std::fprintf(stderr, "%s%s\n", step_text(step).c_str(), left.c_str());
  }
  if (style_ != Style::kBar || (!is_new && step.done < step.total && since_line_.seconds() < kDrawInterval)) return;
  since_line_.restart();
  is_drawn_ = true;
  const std::string words = is_counted(step) ? step_text(step) + left : step_text(step) + " ...";
  const std::size_t room = terminal_width() - std::min(terminal_width() - 1, kBarCells + 2);
  std::fprintf(stderr, "\r\x1b[K%s %s", bar(step).c_str(), words.substr(0, room).c_str());
}

void JobProgress::warn(const std::string& message) {
  clear();
  print_error(message);
}

bool JobProgress::stop_requested() {
  const int n = interrupts();
  if (n == 0) return false;
  if (n >= 2 || !has_something_) throw Interrupted{};
  return true;
}

void JobProgress::clear() {
  if (is_drawn_) std::fputs("\r\x1b[K", stderr);
  is_drawn_ = false;
}

}  // namespace podere::cli
