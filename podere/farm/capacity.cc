#include "podere/farm/capacity.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace podere::farm {
namespace {

constexpr double kRounding = 1e-9;

/// Of one shape on one node.
std::int64_t slots_on(const Resources& requests, const Resources& room) {
  double slots = std::numeric_limits<std::int32_t>::max();
  for (std::size_t r = 0; r < kMostResources; ++r) {  // exact, as amounts are below 2^53; faster than of integers
    if (requests.amounts[r] == 0) continue;
    slots = std::min(slots, static_cast<double>(room.amounts[r]) / static_cast<double>(requests.amounts[r]));
  }
  return static_cast<std::int64_t>(std::max(0.0, slots));
}

/// How claims grow together: those that still do, and what the pools lose to them per unit of time.
class Growth {
 public:
  using Cost = std::vector<std::pair<std::uint32_t, double>>;

  Growth(std::span<const Claim> claims, std::vector<const Cost*> costs, std::vector<double> pools)
      : claims_(claims), costs_(std::move(costs)), pools_(std::move(pools)), rates_(pools_.size()) {
    for (std::size_t i = 0; i < claims.size(); ++i) change_rates(i, claims[i].speed);
  }

  /// Executors of each claim, not yet whole.
  std::vector<double> run() {
    std::vector<std::size_t> order(claims_.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return time_of(i); });
    grown_.assign(claims_.size(), -1);
    for (const std::size_t next : order) {
      while (grown_[next] < 0) {
        const auto pool = first_pool();
        if (times_[pool] >= time_of(next)) {
          stop(next, static_cast<double>(claims_[next].most));
        } else {
          stop_all_in(pool);
        }
      }
    }
    return std::move(grown_);
  }

 private:
  double time_of(std::size_t claim) const { return claims_[claim].most / claims_[claim].speed; }

  void change_rates(std::size_t claim, double speed) {
    for (const auto& [pool, amount] : *costs_[claim]) rates_[pool] += speed * amount;
  }

  /// The pool that is used up first.
  std::size_t first_pool() {
    times_.assign(pools_.size() + 1, std::numeric_limits<double>::infinity());
    std::size_t first = pools_.size();  // none
    for (std::size_t pool = 0; pool < pools_.size(); ++pool) {
      if (rates_[pool] > kRounding) times_[pool] = std::max(0.0, pools_[pool] / rates_[pool]);
      if (times_[pool] < times_[first]) first = pool;
    }
    return first;
  }

  void stop(std::size_t claim, double executors) {
    grown_[claim] = executors;
    change_rates(claim, -claims_[claim].speed);
    for (const auto& [pool, amount] : *costs_[claim]) pools_[pool] -= executors * amount;
  }

  void stop_all_in(std::size_t full) {
    const double time = times_[full];
    for (std::size_t i = 0; i < claims_.size(); ++i) {
      const bool uses = std::ranges::any_of(*costs_[i], [&](const auto& cost) { return cost.first == full; });
      if (uses && grown_[i] < 0) stop(i, std::min<double>(claims_[i].most, time * claims_[i].speed));
    }
    rates_[full] = 0;  // whatever rounding left of it
  }

  std::span<const Claim> claims_;
  std::vector<const Cost*> costs_;
  std::vector<double> pools_;
  std::vector<double> rates_;
  std::vector<double> times_;
  std::vector<double> grown_;
};

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
  sizes_.resize(sets_.size() * kMostResources);
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    for (std::size_t node = 0; node < usable.size(); ++node) {
      if (!state.node_sets[sets_[i]].contains(node)) continue;
      for (std::size_t r = 0; r < kMostResources; ++r) {
        sizes_[i * kMostResources + r] += static_cast<double>(std::max<std::int64_t>(0, usable[node].amounts[r]));
      }
    }
  }
  pools_ = sizes_;
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
  if (cost.slots == 0) return;  // it takes nothing from those that can run
  std::size_t own = 0;
  while (state.node_sets[sets_[own]] != set) ++own;
  const auto share = [&](std::size_t r) {
    return static_cast<double>(requests.amounts[r]) / std::max(1.0, sizes_[own * kMostResources + r]);
  };
  std::size_t dominant = 0;
  for (std::size_t r = 1; r < kMostResources; ++r) {
    if (share(r) > share(dominant)) dominant = r;
  }
  cost.dominant_share = std::max(share(dominant), 1 / static_cast<double>(cost.slots));
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    if (i != own && !set.is_subset_of(state.node_sets[sets_[i]])) continue;
    for (std::size_t r = 0; r < kMostResources; ++r) {
      const double amount = r == dominant ? cost.dominant_share * sizes_[own * kMostResources + r]
                                          : static_cast<double>(requests.amounts[r]);
      if (requests.amounts[r] > 0) cost.pools.emplace_back(i * kMostResources + r, amount);
    }
  }
}

double Capacity::load(std::span<const Claim> claims) const {
  std::vector<double> used(sizes_.size());
  for (const Claim& claim : claims) {
    for (const auto& [pool, amount] : costs_[claim.shape].pools) used[pool] += claim.most * amount;
  }
  double load = 0;
  for (std::size_t pool = 0; pool < used.size(); ++pool) {
    if (used[pool] > 0) load = std::max(load, used[pool] / sizes_[pool]);
  }
  return load;
}

bool Capacity::has_room(std::int32_t shape) const {
  return std::ranges::all_of(costs_[shape].pools, [&](const auto& cost) {
    return cost.second <= pools_[cost.first] + kRounding * sizes_[cost.first];
  });
}

void Capacity::take(std::int32_t shape, double executors) {
  for (const auto& [pool, amount] : costs_[shape].pools) pools_[pool] -= executors * amount;
}

std::vector<std::int32_t> Capacity::divide(std::span<const Claim> claims) {
  std::vector<const Growth::Cost*> costs;
  for (const Claim& claim : claims) costs.push_back(&costs_[claim.shape].pools);
  const std::vector<double> grown = Growth(claims, std::move(costs), pools_).run();

  std::vector<std::int32_t> whole(claims.size());
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    whole[i] = static_cast<std::int32_t>(std::floor(std::max(0.0, grown[i]) + kRounding));
    take(claims[i].shape, whole[i]);
    if (whole[i] < claims[i].most) order.push_back(i);
  }
  // In billionths, so that remainders that are equal but for rounding are equal.
  const auto remainder = [&](std::size_t i) { return -std::llround((grown[i] - whole[i]) / kRounding); };
  std::ranges::stable_sort(order, {}, remainder);
  for (const std::size_t i : order) {
    if (!has_room(claims[i].shape)) continue;
    ++whole[i];
    take(claims[i].shape, 1);
  }
  return whole;
}

}  // namespace podere::farm
