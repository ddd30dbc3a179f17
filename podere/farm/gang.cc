#include "podere/farm/gang.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

namespace podere::farm {
namespace {

/// Executors that are guaranteed, and there or on their way.
std::int32_t prospects(const Outlook& outlook) {
  return std::min(outlook.held, outlook.guaranteed) + outlook.guarantee.prospective();
}

class GangStart {
 public:
  GangStart(const State& state, const DecideWithout& decide)
      : state_(state), decide_(decide), held_(state.farms.size()), held_back_(state.farms.size()) {
    for (const Pod& pod : state.pods) {
      held_[pod.farm] += pod.node >= 0 && !pod.is_driver && !pod.is_reclaimed && pod.phase != Phase::kEnding;
    }
    for (std::size_t f = 0; f < held_.size(); ++f) {
      if (is_starting_gang(state.farms[f], held_[f])) gangs_.push_back(static_cast<std::int32_t>(f));
    }
    std::ranges::sort(gangs_, {}, [&](std::int32_t f) {
      const double since = state.farms[f].history.short_since;
      return std::tuple(-held_[f], since > 0 ? since : state.now, std::string_view(state.farms[f].key));
    });
  }

  Decision run() {
    if (gangs_.empty()) return decide_(held_back_);
    for (const std::int32_t gang : gangs_) held_back_[gang] = true;
    start(gangs_);
    if (!decision_) decision_ = decide_(held_back_);
    decision_->guaranteed_load = std::max(decision_->guaranteed_load, load_of_all_);
    for (const std::int32_t gang : gangs_) decision_->outlooks[gang].gang = state_.farms[gang].gang_size();
    for (const auto& [gang, outlook] : refused_) report(decision_->outlooks[gang], outlook);
    return std::move(*decision_);
  }

 private:
  /// Those of the gangs that fit beside those that start already.
  void start(std::span<const std::int32_t> gangs) {
    for (const std::int32_t gang : gangs) held_back_[gang] = false;
    Decision decision = decide_(held_back_);
    if (gangs.size() == gangs_.size()) load_of_all_ = decision.guaranteed_load;
    const std::int64_t lacking = n_lacking(decision);
    if (lacking == 0) {
      decision_ = std::move(decision);
      return;
    }
    for (const std::int32_t gang : gangs) held_back_[gang] = true;
    if (gangs.size() == 1) return refuse(gangs.front(), decision.outlooks[gangs.front()], lacking);
    start(gangs.first(gangs.size() / 2));
    start(gangs.subspan(gangs.size() / 2));
  }

  /// Executors that have no way to room, of all gangs that are to start.
  std::int64_t n_lacking(const Decision& decision) const {
    std::int64_t lacking = 0;
    for (const std::int32_t gang : gangs_) {
      if (!held_back_[gang]) lacking += state_.farms[gang].gang_size() - prospects(decision.outlooks[gang]);
    }
    return lacking;
  }

  /// `outlook`: as it was when the gang was tried, and `lacking` with it.
  void refuse(std::int32_t gang, Outlook outlook, std::int64_t lacking) {
    const std::int64_t room = state_.farms[gang].gang_size() - lacking;
    outlook.gang_room = static_cast<std::int32_t>(std::max<std::int64_t>(0, room));
    refused_.emplace_back(gang, std::move(outlook));
  }

  static void report(Outlook& outlook, const Outlook& tried) {
    outlook.demand = tried.demand;
    outlook.allowed = tried.allowed;
    outlook.guarantee_ceiling = tried.guarantee_ceiling;
    outlook.demand_ceiling = tried.demand_ceiling;
    outlook.gang_room = tried.gang_room;
    outlook.guarantee = {.for_gang = std::min(outlook.gang, tried.demand)};
    outlook.beyond = {.for_gang = tried.demand - outlook.guarantee.for_gang};
  }

  const State& state_;
  const DecideWithout& decide_;
  std::vector<std::int32_t> held_;   // by each farm
  std::vector<std::int32_t> gangs_;  // that have not started, in the order in which they are tried
  std::vector<bool> held_back_;      // farms
  std::optional<Decision> decision_;
  double load_of_all_ = 0;
  std::vector<std::pair<std::int32_t, Outlook>> refused_;
};

}  // namespace

Decision start_gangs_whole(const State& state, const DecideWithout& decide) { return GangStart(state, decide).run(); }

}  // namespace podere::farm
