#include "podere/farm/divide.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace podere::farm {
namespace {

constexpr double kRounding = 1e-9;

/// How claims grow together: those that still do, and what the pools lose to them per unit of time. A claim has grown
/// to base + rate * time; a pool has what is left of it at time 0, were the bases in use, and what it loses.
class Growth {
 public:
  Growth(std::span<const Claim> claims, std::span<const PoolCosts* const> costs, std::vector<double> pools)
      : claims_(claims),
        costs_(costs),
        pools_(std::move(pools)),
        rates_(pools_.size()),
        grown_(claims.size(), -1),
        group_of_(claims.size()) {
    std::map<std::int32_t, std::size_t> places;
    for (std::size_t i = 0; i < claims.size(); ++i) {
      const bool is_alone = claims[i].group < 0;
      group_of_[i] = is_alone ? groups_.size() : places.try_emplace(claims[i].group, groups_.size()).first->second;
      if (group_of_[i] == groups_.size()) groups_.emplace_back();
      groups_[group_of_[i]].growing.push_back(i);
    }
    for (Group& group : groups_) {
      std::ranges::stable_sort(group.growing, {}, [&](std::size_t i) { return goal_of(i); });
      for (const std::size_t i : group.growing) change_line(i, 0, claims[i].speed / group.size());
    }
  }

  /// Executors of each claim, not yet whole.
  std::vector<double> run() {
    for (std::size_t g = 0; g < groups_.size(); ++g) enqueue(g);
    while (!queue_.empty()) {
      const auto [time, g] = *queue_.begin();
      const auto pool = first_pool();
      if (times_[pool] >= time) {
        const std::size_t next = groups_[g].growing.front();
        stop(next, static_cast<double>(claims_[next].most), time);
      } else {
        stop_all_in(pool);
      }
    }
    return std::move(grown_);
  }

 private:
  /// Claims that share what one alone would have: the fewer still grow, the faster each does. At a time t those have
  /// grown for base + t / size.
  struct Group {
    std::vector<std::size_t> growing = {};  // those that are met first come first
    double base = 0;
    double next_met = 0;  // as it is queued

    double size() const { return static_cast<double>(growing.size()); }
    double grown_for(double time) const { return base + time / size(); }
    double time_of(double grown_for) const { return (grown_for - base) * size(); }
  };

  double goal_of(std::size_t claim) const { return claims_[claim].most / claims_[claim].speed; }

  /// When the next of a group is met.
  void enqueue(std::size_t g) {
    groups_[g].next_met = groups_[g].time_of(goal_of(groups_[g].growing.front()));
    queue_.emplace(groups_[g].next_met, g);
  }

  void change_line(std::size_t claim, double base, double rate) {
    for (const auto& [pool, amount] : *costs_[claim]) {
      pools_[pool] -= base * amount;
      rates_[pool] += rate * amount;
    }
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

  void stop(std::size_t claim, double executors, double time) {
    const std::size_t g = group_of_[claim];
    Group& group = groups_[g];
    queue_.erase({group.next_met, g});
    const double before = group.base;
    const double n_before = group.size();
    const double grown_for = group.grown_for(time);
    grown_[claim] = executors;
    std::erase(group.growing, claim);
    change_line(claim, executors - before * claims_[claim].speed, -claims_[claim].speed / n_before);
    if (group.growing.empty()) return;
    group.base = grown_for - time / group.size();
    for (const std::size_t other : group.growing) {
      const double speed = claims_[other].speed;
      change_line(other, (group.base - before) * speed, speed / group.size() - speed / n_before);
    }
    enqueue(g);
  }

  void stop_all_in(std::size_t full) {
    const double time = times_[full];
    for (std::size_t i = 0; i < claims_.size(); ++i) {
      const bool uses = std::ranges::any_of(*costs_[i], [&](const auto& cost) { return cost.first == full; });
      if (!uses || grown_[i] >= 0) continue;
      const double grown = groups_[group_of_[i]].grown_for(time) * claims_[i].speed;
      stop(i, std::min<double>(claims_[i].most, grown), time);
    }
    rates_[full] = 0;  // whatever rounding left of it
  }

  std::span<const Claim> claims_;
  std::span<const PoolCosts* const> costs_;
  std::vector<double> pools_;
  std::vector<double> rates_;
  std::vector<double> times_;
  std::vector<double> grown_;  // of claims that have stopped; -1: others
  std::vector<std::size_t> group_of_;
  std::vector<Group> groups_;
  std::set<std::pair<double, std::size_t>> queue_;  // when the next of each group is met
};

}  // namespace

bool Pools::have_room(const PoolCosts& costs) const {
  return std::ranges::all_of(
      costs, [&](const auto& cost) { return cost.second <= left[cost.first] + kRounding * sizes[cost.first]; });
}

bool Pools::are_not_overdrawn() const {
  for (std::size_t pool = 0; pool < left.size(); ++pool) {
    if (left[pool] < -kRounding * sizes[pool]) return false;
  }
  return true;
}

void Pools::use(const PoolCosts& costs, double executors) {
  for (const auto& [pool, amount] : costs) left[pool] -= executors * amount;
}

std::vector<std::int32_t> divide(std::span<const Claim> claims, std::span<const PoolCosts* const> costs, Pools& pools) {
  std::vector<std::int32_t> whole(claims.size());
  std::ranges::transform(claims, whole.begin(), &Claim::most);
  Pools rest = pools;
  for (std::size_t i = 0; i < claims.size(); ++i) rest.use(*costs[i], whole[i]);
  if (rest.are_not_overdrawn()) {  // the usual case
    pools = std::move(rest);
    return whole;
  }
  const std::vector<double> grown = Growth(claims, costs, pools.left).run();
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    whole[i] = static_cast<std::int32_t>(std::floor(std::max(0.0, grown[i]) + kRounding));
    pools.use(*costs[i], whole[i]);
    if (whole[i] < claims[i].most) order.push_back(i);
  }
  // In billionths, so that remainders that are equal but for rounding are equal.
  const auto remainder = [&](std::size_t i) { return -std::llround((grown[i] - whole[i]) / kRounding); };
  std::ranges::stable_sort(order, {}, remainder);
  for (const std::size_t i : order) {
    if (!pools.have_room(*costs[i])) continue;
    ++whole[i];
    pools.use(*costs[i], 1);
  }
  return whole;
}

}  // namespace podere::farm
