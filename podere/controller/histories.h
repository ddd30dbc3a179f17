// What farms used, and what room they are owed, from one pass over the farms of a manager to the next.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "podere/controller/farm_status.h"
#include "podere/farm/policy.h"
#include "podere/farm/state.h"

namespace podere::controller {

/// Of the farms of one manager.
class Histories {
 public:
  /// What is known of a farm (its index in the state) that was not there in the last pass: from its status.
  using Kept = std::function<std::optional<KeptHistory>(std::size_t farm)>;

  /// Fills in the histories of a state, its `now` being later than the last one's: the pods stood as in the last state
  /// until now.
  void advance(farm::State& state, const farm::Policy& policy, const Kept& kept);
  /// To be called with the state as it is left, for the next time.
  void remember(farm::State state) { last_ = std::move(state); }

 private:
  std::optional<farm::State> last_;
};

}  // namespace podere::controller
