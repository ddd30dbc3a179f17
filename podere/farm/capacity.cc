#include "podere/farm/capacity.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace podere::farm {
namespace {

/// Of one shape on one node.
std::int64_t slots_on(const Resources& requests, const Resources& room) {
  double slots = std::numeric_limits<std::int32_t>::max();
  for (std::size_t r = 0; r < kMostResources; ++r) {  // exact, as amounts are below 2^53; faster than of integers
    if (requests.amounts[r] == 0) continue;
    slots = std::min(slots, static_cast<double>(room.amounts[r]) / static_cast<double>(requests.amounts[r]));
  }
  return static_cast<std::int64_t>(std::max(0.0, slots));
}

}  // namespace

Capacity::Capacity(const State& state, const std::vector<Resources>& usable, std::span<const std::int32_t> shapes)
    : costs_(state.shapes.size()) {
  const auto same_set = [&](std::int32_t a, std::int32_t b) { return state.node_sets[a] == state.node_sets[b]; };
  for (const std::int32_t shape : shapes) {
    const std::int32_t set = state.shapes[shape].node_set;
    if (std::ranges::none_of(sets_, [&](std::int32_t other) { return other == set || same_set(other, set); })) {
      sets_.push_back(set);
    }
  }
  pools_.sizes.resize(sets_.size() * kMostResources);
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    for (std::size_t node = 0; node < usable.size(); ++node) {
      if (!state.node_sets[sets_[i]].contains(node)) continue;
      for (std::size_t r = 0; r < kMostResources; ++r) {
        pools_.sizes[i * kMostResources + r] += static_cast<double>(std::max<std::int64_t>(0, usable[node].amounts[r]));
      }
    }
  }
  pools_.left = pools_.sizes;
  for (const std::int32_t shape : shapes) {
    if (!costs_[shape].is_known) find_cost(state, usable, shape);
  }
}

void Capacity::find_cost(const State& state, const std::vector<Resources>& usable, std::int32_t shape) {
  const Resources& requests = state.shapes[shape].requests;
  const NodeSet& set = state.node_sets[state.shapes[shape].node_set];
  Cost& cost = costs_[shape];
  cost.is_known = true;
  for (std::size_t node = 0; node < usable.size(); ++node) {
    if (set.contains(node)) cost.slots += slots_on(requests, usable[node]);
  }
  if (cost.slots == 0) return;  // it uses nothing of those that can run
  std::size_t own = 0;
  while (state.node_sets[sets_[own]] != set) ++own;
  const auto share = [&](std::size_t r) {
    return static_cast<double>(requests.amounts[r]) / std::max(1.0, pools_.sizes[own * kMostResources + r]);
  };
  std::size_t dominant = 0;
  for (std::size_t r = 1; r < kMostResources; ++r) {
    if (share(r) > share(dominant)) dominant = r;
  }
  cost.dominant_share = std::max(share(dominant), 1 / static_cast<double>(cost.slots));
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    if (i != own && !set.is_subset_of(state.node_sets[sets_[i]])) continue;
    for (std::size_t r = 0; r < kMostResources; ++r) {
      const double amount = r == dominant ? cost.dominant_share * pools_.sizes[own * kMostResources + r]
                                          : static_cast<double>(requests.amounts[r]);
      if (requests.amounts[r] > 0) cost.pools.emplace_back(i * kMostResources + r, amount);
    }
  }
}

double Capacity::load(std::span<const Claim> claims) const {
  std::vector<double> used(pools_.sizes.size());
  for (const Claim& claim : claims) {
    for (const auto& [pool, amount] : costs_[claim.shape].pools) used[pool] += claim.most * amount;
  }
  double load = 0;
  for (std::size_t pool = 0; pool < used.size(); ++pool) {
    if (used[pool] > 0) load = std::max(load, used[pool] / pools_.sizes[pool]);
  }
  return load;
}

std::vector<std::int32_t> Capacity::divide(std::span<const Claim> claims) {
  std::vector<const PoolCosts*> costs;
  for (const Claim& claim : claims) costs.push_back(&costs_[claim.shape].pools);
  return farm::divide(claims, costs, pools_);
}

}  // namespace podere::farm
