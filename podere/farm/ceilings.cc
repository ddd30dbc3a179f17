#include "podere/farm/ceilings.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "podere/farm/divide.h"

namespace podere::farm {
namespace {

/// Executors of one kind, guaranteed or others, which the ceilings are divided among.
class UnderCeilings {
 public:
  explicit UnderCeilings(const Ledger& ledger) : ledger_(ledger), costs_of_(ledger.farms.size()) {
    for (std::size_t c = 0; c < ledger.state.ceilings.size(); ++c) {
      for (const std::int32_t f : ledger.state.ceilings[c].farms) costs_of_[f].emplace_back(c, 1.0);
    }
  }

  /// `most`: by farm. Takes what it gives of the pools, one a ceiling.
  std::vector<std::int32_t> divide(const std::vector<std::int32_t>& most, Pools& pools) const {
    std::vector<Claim> claims;
    std::vector<const PoolCosts*> costs;
    for (const std::int32_t f : ledger_.farms) {
      claims.push_back({-1, most[f], 1, ledger_.group[f]});
      costs.push_back(&costs_of_[f]);
    }
    const std::vector<std::int32_t> by_rank = farm::divide(claims, costs, pools);
    std::vector<std::int32_t> parts(most.size());
    for (std::size_t i = 0; i < by_rank.size(); ++i) parts[ledger_.farms[i]] = by_rank[i];
    return parts;
  }

  /// The one of a farm's ceilings that leaves least; -1: it has none.
  std::int32_t tightest(std::int32_t farm, const Pools& pools) const {
    const PoolCosts& own = costs_of_[farm];
    const auto least = std::ranges::min_element(own, {}, [&](const auto& cost) {
      return std::pair(std::llround(pools.left[cost.first]), pools.sizes[cost.first]);
    });
    return least == own.end() ? -1 : static_cast<std::int32_t>(least->first);
  }

 private:
  const Ledger& ledger_;
  std::vector<PoolCosts> costs_of_;  // by farm
};

}  // namespace

void apply_ceilings(Ledger& ledger) {
  if (ledger.state.ceilings.empty()) return;
  const UnderCeilings ceilings(ledger);
  Pools guarantees;
  Pools all;
  for (const Ceiling& ceiling : ledger.state.ceilings) {
    guarantees.sizes.push_back(std::min(ceiling.guaranteed, ceiling.maximum));
    all.sizes.push_back(ceiling.maximum);
  }
  guarantees.left = guarantees.sizes;
  all.left = all.sizes;
  const Pools all_of_guarantees = guarantees;

  std::vector<std::int32_t> asked;
  for (std::size_t f = 0; f < ledger.accounts.size(); ++f) {
    asked.push_back(std::min(ledger.state.farms[f].guaranteed, ledger.accounts[f].demand));
  }
  const std::vector<std::int32_t> granted = ceilings.divide(asked, guarantees);
  for (std::size_t c = 0; c < all.left.size(); ++c) all.left[c] -= guarantees.sizes[c] - guarantees.left[c];

  std::vector<std::int32_t> beyond;
  for (std::size_t f = 0; f < granted.size(); ++f) beyond.push_back(ledger.accounts[f].demand - granted[f]);
  const std::vector<std::int32_t> more = ceilings.divide(beyond, all);

  for (std::size_t f = 0; f < granted.size(); ++f) {
    Account& account = ledger.accounts[f];
    const auto farm = static_cast<std::int32_t>(f);
    const bool is_cut = granted[f] < asked[f];
    if (const std::int32_t c = ceilings.tightest(farm, is_cut ? guarantees : all_of_guarantees); c >= 0) {
      const auto counts = is_cut ? granted[f] : static_cast<std::int32_t>(guarantees.sizes[c]);
      if (counts < account.allowed) account.guarantee_ceiling = c;
      account.allowed = std::min(account.allowed, counts);
    }
    if (more[f] < beyond[f]) account.demand_ceiling = ceilings.tightest(farm, all);
    account.demand = granted[f] + more[f];
  }
}

}  // namespace podere::farm
