#include "podere/farm/simulation_counts.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace podere::farm {
namespace {

constexpr double kCycleSeconds = 3600;

/// Whether all executors of a trace ask for the same, of any node.
bool all_alike(const Trace& trace) {
  const ExecutorNeeds* first = nullptr;
  for (const TraceEvent& event : trace.events) {
    const auto* farm = std::get_if<FarmEvent>(&event.what);
    if (farm == nullptr) continue;
    if (!farm->executor.nodes.empty()) return false;
    if (first != nullptr && first->requests != farm->executor.requests) return false;
    first = &farm->executor;
  }
  return true;
}

double cores(const Resources& resources) { return static_cast<double>(resources.amounts[0]) / 1000; }

}  // namespace

SimulationCounts::SimulationCounts(const Trace& trace, const State& state)
    : state_(state), is_uniform_(all_alike(trace)) {
  if (!is_uniform_) report_.reclaimed_needlessly = -1;
}

void SimulationCounts::pass(double seconds) {
  report_.simulated += seconds;
  report_.missing += seconds * static_cast<double>(missing_);
  used_seconds_ += seconds * used_;
  capacity_seconds_ += seconds * capacity_;
  askable_seconds_ += seconds * std::min(capacity_, asked_);
}

void SimulationCounts::change_capacity(const Resources& change) { capacity_ += cores(change); }

void SimulationCounts::lose_node(std::int32_t node) {
  if (static_cast<std::size_t>(node) < free_rooms_.size()) free_rooms_[static_cast<std::size_t>(node)].clear();
}

void SimulationCounts::add_farm() { farms_.emplace_back(); }

void SimulationCounts::change_farm(std::int32_t farm, double now, const Resources& executor) {
  const auto f = static_cast<std::size_t>(farm);
  FarmCounts& counts = farms_[f];
  const std::int32_t wanted = std::min(state_.farms[f].wanted, state_.farms[f].maximum);
  asked_ -= static_cast<double>(counts.wanted) * static_cast<double>(counts.cores) / 1000;
  if (wanted != counts.wanted) counts.changed = now;
  counts.wanted = wanted;
  counts.cores = executor.amounts[0];
  asked_ += static_cast<double>(counts.wanted) * static_cast<double>(counts.cores) / 1000;
  look_at(farm, now);
}

void SimulationCounts::add_pod() { had_before_.emplace_back(); }

void SimulationCounts::remove_pod(const Pod& pod, std::size_t index, double now) {
  if (pod.node >= 0) {
    free_rooms_.resize(state_.nodes.size());
    const bool was_reclaimed = pod.is_reclaimed && pod.reclaimed_for >= 0;
    free_rooms_[static_cast<std::size_t>(pod.node)].push_back(
        {{pod.farm, now, was_reclaimed}, had_before_[index].last});
  }
  had_before_[index] = had_before_.back();
  had_before_.pop_back();
}

std::int32_t SimulationCounts::due(std::size_t farm) const {
  const Farm& f = state_.farms[farm];
  return std::min({f.guaranteed, f.wanted, f.maximum});
}

/// Begins to wait for the guarantee, or has it.
void SimulationCounts::look_at(std::int32_t farm, double now) {
  FarmCounts& counts = farms_[static_cast<std::size_t>(farm)];
  const std::int32_t missing = std::max(0, due(static_cast<std::size_t>(farm)) - counts.held);
  missing_ += missing - std::exchange(counts.missing, missing);
  const bool is_below = missing > 0;
  if (is_below && counts.below_since < 0) {
    counts.below_since = now;
  } else if (!is_below && counts.below_since >= 0) {
    waits_.push_back(now - counts.below_since);
    counts.below_since = -1;
  }
}

void SimulationCounts::look_at_room(const Room& room, std::int32_t farm, double now) {
  const auto is_recent = [&](const Occupant& occupant) {
    return occupant.was_reclaimed && now - occupant.left < kCycleSeconds;
  };
  if (!is_recent(room.last)) return;
  if (room.last.farm == farm) {
    ++report_.returned;
    return;
  }
  if (!is_recent(room.before) || room.before.farm != farm) return;
  const auto has_changed = [&](std::int32_t f) {
    return farms_[static_cast<std::size_t>(f)].changed >= room.before.left;
  };
  report_.cycles += !has_changed(farm) && !has_changed(room.last.farm);
}

std::int32_t SimulationCounts::place(const Pod& pod, std::size_t index, double now) {
  ++report_.started;
  used_ += cores(state_.shapes[static_cast<std::size_t>(pod.shape)].requests);
  free_rooms_.resize(state_.nodes.size());
  auto& rooms = free_rooms_[static_cast<std::size_t>(pod.node)];
  if (!rooms.empty()) {
    had_before_[index] = rooms.back();
    rooms.pop_back();
    look_at_room(had_before_[index], pod.farm, now);
  }
  const std::int32_t held = ++farms_[static_cast<std::size_t>(pod.farm)].held;
  look_at(pod.farm, now);
  return held;
}

void SimulationCounts::leave(const Pod& pod, double now) {
  used_ -= cores(state_.shapes[static_cast<std::size_t>(pod.shape)].requests);
  --farms_[static_cast<std::size_t>(pod.farm)].held;
  look_at(pod.farm, now);
}

void SimulationCounts::lose_work(const Pod& pod, double now) {
  if (pod.reclaimed_for < 0 && pod.is_reclaimed) return;  // its own farm wanted fewer
  if (pod.ready_since > 0) report_.work_lost += now - std::max(pod.ready_since, pod.checkpointed);
}

void SimulationCounts::decided(double seconds) {
  ++report_.decisions;
  report_.decision_seconds += seconds;
}

/// Executors that are missing in guarantees, less rooms that are free or on their way.
std::int64_t SimulationCounts::missing() const {
  std::int64_t missing = 0;
  for (std::size_t f = 0; f < farms_.size(); ++f) missing += std::max(0, due(f) - farms_[f].held);
  if (missing == 0 || state_.shapes.empty()) return 0;
  const std::int64_t per_executor = std::max<std::int64_t>(1, state_.shapes[0].requests.amounts[0]);
  std::vector<std::int64_t> free(state_.nodes.size());
  for (std::size_t n = 0; n < free.size(); ++n)
    free[n] = state_.nodes[n].is_schedulable ? state_.nodes[n].allocatable.amounts[0] : 0;
  for (const Pod& pod : state_.pods) {
    if (pod.node >= 0 && pod.phase != Phase::kEnding && !pod.is_reclaimed)
      free[static_cast<std::size_t>(pod.node)] -= per_executor;
  }
  for (const std::int64_t room : free) missing -= std::max<std::int64_t>(0, room / per_executor);
  return std::max<std::int64_t>(0, missing);
}

void SimulationCounts::note_reclaims(std::span<const Reclaim> reclaims) {
  const auto n_guaranteed = std::ranges::count_if(reclaims, &Reclaim::for_guarantee);
  report_.reclaimed += static_cast<std::uint64_t>(n_guaranteed);
  report_.reclaimed_for_shares += reclaims.size() - static_cast<std::uint64_t>(n_guaranteed);
  if (is_uniform_ && n_guaranteed > 0)
    report_.reclaimed_needlessly += std::max<std::int64_t>(0, n_guaranteed - missing());
}

/// Jain, Chiu, Hawe, DEC-TR-301, 1984: (sum x)^2 / (n sum x^2).
void SimulationCounts::look_at_shares(std::span<const Outlook> outlooks, double now) {
  for (std::size_t f = 0; f < outlooks.size(); ++f) {
    if (std::exchange(farms_[f].share, outlooks[f].share) != outlooks[f].share) farms_[f].changed = now;
  }
  double sum = 0;
  double squares = 0;
  int n = 0;
  for (std::size_t f = 0; f < farms_.size(); ++f) {
    const FarmCounts& counts = farms_[f];
    if (counts.held >= counts.wanted) continue;
    const double borrowed =
        std::max(0, counts.held - due(f)) * static_cast<double>(counts.cores) / state_.farms[f].weight;
    sum += borrowed;
    squares += borrowed * borrowed;
    ++n;
  }
  if (squares <= 0) return;
  fairness_sum_ += sum * sum / (n * squares);
  ++n_fairness_;
}

SimulationReport SimulationCounts::report(double now) {
  for (const FarmCounts& counts : farms_) {
    if (counts.below_since < 0) continue;
    ++report_.waits_unfinished;
    waits_.push_back(now - counts.below_since);
  }
  std::ranges::sort(waits_);
  const auto quantile = [&](double q) {
    if (waits_.empty()) return 0.0;
    return waits_[static_cast<std::size_t>(std::ceil(q * static_cast<double>(waits_.size()))) - 1];
  };
  report_.waits = waits_.size();
  report_.wait_median = quantile(0.5);
  report_.wait_p99 = quantile(0.99);
  report_.wait_longest = quantile(1);
  report_.utilization = capacity_seconds_ > 0 ? used_seconds_ / capacity_seconds_ : 0;
  report_.utilization_of_asked = askable_seconds_ > 0 ? used_seconds_ / askable_seconds_ : 0;
  report_.fairness = n_fairness_ > 0 ? fairness_sum_ / static_cast<double>(n_fairness_) : 0;
  return report_;
}

}  // namespace podere::farm
