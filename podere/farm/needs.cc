#include "podere/farm/needs.h"

#include <algorithm>
#include <numbers>
#include <tuple>

namespace podere::farm {
namespace {

/// The executors of a farm with numbers [first, last): pods that wait, the oldest first, then pods to be created.
template <typename Fullness>
void add_needs(Ledger& ledger, std::int32_t farm, std::int32_t first, std::int32_t last, bool is_guarantee,
               bool from_equals, const Fullness& fullness) {
  if (first >= last) return;
  const std::int32_t held = ledger.accounts[farm].staying();
  const std::vector<std::int32_t> waiting = ledger.waiting(farm);
  for (std::int32_t number = first; number < last; ++number) {
    const auto i = static_cast<std::size_t>(number - held);
    const bool is_there = i < waiting.size();
    if (!is_there && !ledger.farm(farm).has_template()) return;
    const std::int32_t pod = is_there ? waiting[i] : -1;
    const std::int32_t shape = is_there ? ledger.pod(pod).shape : ledger.farm(farm).template_shape;
    ledger.needs.push_back({farm, shape, pod, is_guarantee, fullness(number), from_equals});
  }
}

void sort_needs(Ledger& ledger, const Capacity& capacity, std::size_t first) {
  std::ranges::stable_sort(
      ledger.needs.begin() + static_cast<std::ptrdiff_t>(first), ledger.needs.end(), {}, [&](const Need& need) {
        const double short_since = ledger.farm(need.farm).history.short_since;
        const double since = !need.is_guarantee ? 0 : short_since > 0 ? short_since : ledger.state.now;
        return std::tuple(capacity.slots(need.shape), need.shape, since, need.fullness, ledger.farm_rank[need.farm]);
      });
}

void promise(Ledger& ledger, Need& need, std::int32_t node, Wait wait) {
  ledger.room.promise(need.shape, node);
  need.node = node;
  need.wait = wait;
}

/// First to farms that are owed room: farms of other shapes, or that lost something later, would use what was freed for
/// them.
void promise_free_room(Ledger& ledger, std::span<Need> needs) {
  std::vector<std::int32_t> owed(ledger.farms.size());
  for (const Need& need : needs) {
    const History& history = ledger.farm(need.farm).history;
    owed[need.farm] = need.is_guarantee ? history.rooms_owed : history.shares_owed;
  }
  for (const bool is_owed : {true, false}) {
    for (Need& need : needs) {
      if (need.has_room() || (is_owed && owed[need.farm] <= 0)) continue;
      const std::int32_t node = ledger.room.find_now(need.shape);
      if (node < 0) continue;
      --owed[need.farm];
      promise(ledger, need, node, Wait::kStart);
    }
  }
}

/// Room of pods that drain goes to the farm that they were reclaimed for: room of others on the same node does not.
void promise_draining(Ledger& ledger, std::span<Need> needs) {
  std::vector<std::vector<Need*>> of_farm(ledger.farms.size());
  for (Need& need : needs) {
    if (!need.has_room()) of_farm[need.farm].push_back(&need);
  }
  std::erase_if(ledger.draining, [&](std::int32_t index) {
    const Pod& pod = ledger.pod(index);
    const Account& account = ledger.accounts[pod.reclaimed_for];
    const bool is_awaited = !of_farm[pod.reclaimed_for].empty() || account.held < account.share;
    if (!is_awaited) ledger.room.release(pod.node, ledger.requests_of(index));
    return !is_awaited;
  });
  std::vector<std::int32_t> kept;  // for farms that are below their share only
  for (std::size_t i = 0; i < ledger.draining.size();) {
    const Pod& first = ledger.pod(ledger.draining[i]);
    auto& open = of_farm[first.reclaimed_for];
    Resources freed;
    for (; i < ledger.draining.size(); ++i) {  // all that leave this node for this farm
      const std::int32_t index = ledger.draining[i];
      if (ledger.pod(index).node != first.node || ledger.pod(index).reclaimed_for != first.reclaimed_for) break;
      if (open.empty()) {
        kept.push_back(index);
      } else {
        ledger.room.release(first.node, ledger.requests_of(index));
        freed += ledger.requests_of(index);
      }
    }
    for (Need* need : open) {
      const bool is_used_up = std::ranges::none_of(freed.amounts, [](std::int64_t amount) { return amount > 0; });
      if (is_used_up) break;  // what else comes free here may be for others
      if (need->has_room() || !ledger.room.fits_beside_kept(need->shape, first.node)) continue;
      promise(ledger, *need, first.node, Wait::kDrain);
      freed -= ledger.shape(need->shape).requests;
    }
  }
  ledger.draining = std::move(kept);
}

}  // namespace

double weight_of(const Farm& farm, const Policy& policy) {
  if (policy.mode != Mode::kHistoryAware) return farm.weight;
  // In executors that ran all the time: one of these counts as much as having used nothing.
  const double steady = farm.history.settled_usage * std::numbers::ln2 / policy.half_life_seconds;
  return farm.weight / (1 + steady);
}

double borrowed_share(const Ledger& ledger, const Capacity& capacity, std::int32_t farm, std::int32_t executors) {
  const Account& account = ledger.accounts[farm];
  return (executors - account.guaranteed) * capacity.dominant_share(account.shape) /
         weight_of(ledger.farm(farm), ledger.policy);
}

void add_guarantee_needs(Ledger& ledger, const Capacity& capacity) {
  for (const std::int32_t f : ledger.farms) {
    const Account& account = ledger.accounts[f];
    add_needs(ledger, f, account.held, account.guaranteed, true, true,
              [&](std::int32_t executors) { return static_cast<double>(executors) / account.guaranteed; });
  }
  sort_needs(ledger, capacity, 0);
}

void add_share_needs(Ledger& ledger, const Capacity& capacity, std::int32_t priority,
                     std::span<const std::int32_t> admitted) {
  const bool divides = ledger.policy.mode != Mode::kProportional;
  const bool has_lower = priority > ledger.priorities.back();
  const std::size_t first = ledger.needs.size();
  for (const std::int32_t f : ledger.farms) {
    if (ledger.farm(f).priority != priority) continue;
    const Account& account = ledger.accounts[f];
    const std::int32_t has = std::max(account.staying(), account.guaranteed) + admitted[f];
    // Shares move by one whenever any farm wants one more: a farm that is short by so little does not reclaim it.
    const double slack = std::max(1.0, ledger.policy.share_tolerance * account.share);
    const bool from_equals = divides && (has == 0 || account.share - has > slack);
    if (!from_equals && !has_lower) continue;
    add_needs(ledger, f, has, account.share, false, from_equals,
              [&](std::int32_t executors) { return borrowed_share(ledger, capacity, f, executors); });
  }
  sort_needs(ledger, capacity, first);
}

void find_room(Ledger& ledger, std::span<Need> needs) {
  promise_free_room(ledger, needs);
  if (!ledger.draining.empty()) promise_draining(ledger, needs);
  for (const auto kept : {Room::Kept::kSpared, Room::Kept::kUsed}) {
    for (Need& need : needs) {
      if (need.has_room()) continue;
      const std::int32_t node = ledger.room.find_later(need.shape, kept);
      if (node >= 0) promise(ledger, need, node, Wait::kDrain);
    }
  }
}

}  // namespace podere::farm
