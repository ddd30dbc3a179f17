#include "podere/session/attempts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "podere/base/error.h"

namespace podere::session {
namespace {

constexpr int kMostKinds = 20;  // of losses of one job
constexpr int kMostDoublings = 20;

/// "groups of 4, 3 and 3 executors", "2 groups of 1 executor".
std::string groups_text(const std::vector<Attempts::Lost>& groups) {
  const int first = groups.front().n_executors;
  if (groups.back().n_executors == first) return fmt::format("{} groups of {}", groups.size(), executors_text(first));
  std::string counts;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const char* before = i == 0 ? "" : i + 1 == groups.size() ? " and " : ", ";
    counts += before + std::to_string(groups[i].n_executors);
  }
  return fmt::format("groups of {} executors", counts);
}

/// Whether an executor ended by its own doing, as at a picture that crashes its decoder: its machine is as good as any.
bool is_own_doing(const std::string& how) {
  constexpr std::array kSignals = {SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGXCPU};
  return std::ranges::any_of(kSignals, [&](int number) { return how == fmt::format("killed by signal {}", number); });
}

}  // namespace

bool counts(const ProgressStep& step) { return step.phase == "train" || !step.unit.empty(); }

std::string executors_text(int n) { return fmt::format("{} executor{}", n, n == 1 ? "" : "s"); }

std::string place_text(const ProgressStep& step) {
  if (counts(step)) return fmt::format("{} {}", step.unit.empty() ? "tree" : step.unit, step.done);
  return step.phase.empty() ? "the start" : fmt::format("the phase '{}'", step.phase);
}

int Attempts::after(const Lost& lost, int least) {
  if (lost.began > most_begun_) {
    n_kinds_ = 0;
    most_begun_ = lost.began;
  }
  const bool alike = is_alike(lost);
  if (!alike) alike_.clear();
  if (!alike && ++n_kinds_ > kMostKinds) {
    throw_error("given up after {} losses of executors: {} at {}", n_kinds_, lost.how, place_text(lost.step));
  }
  alike_.push_back(lost);
  if (!alike && counts(lost.step) && is_own_doing(lost.how)) return lost.n_executors;
  const int doubled = 1 << std::min(static_cast<int>(alike_.size()) - 1, kMostDoublings);
  const int fewer = std::max({least, lost.n_executors - doubled, (lost.n_executors + 1) / 2});
  const bool is_same_number = alike && alike_[alike_.size() - 2].n_executors == lost.n_executors;
  if (is_same_number && fewer >= lost.n_executors) give_up(lost, least);
  return fewer;
}

/// A group that began with more trees, or steps, than the one before has gained, wherever it was lost.
bool Attempts::is_alike(const Lost& lost) const {
  if (alike_.empty()) return false;
  const Lost& last = alike_.back();
  return lost.how == last.how && lost.step.phase == last.step.phase && lost.step.done <= last.step.done &&
         lost.began <= last.began;
}

void Attempts::give_up(const Lost& lost, int least) const {
  std::string causes = lost.how;
  if (lost.how == "killed by signal 9") causes += " (perhaps there is not enough memory)";
  if (least > 1) causes += fmt::format("; fewer than {} were not wanted", least);
  throw_error("given up at {}: {} were lost the same way: {}", place_text(lost.step), groups_text(alike_), causes);
}

}  // namespace podere::session
