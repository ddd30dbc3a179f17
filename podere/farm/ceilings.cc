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

  /// `most`: by farm. Uses up what it returns of the pools, one a ceiling.
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
  std::int32_t tightest(std::int32_t farm, const std::vector<double>& left, const std::vector<double>& sizes) const {
    const PoolCosts& own = costs_of_[farm];
    const auto least = std::ranges::min_element(
        own, {}, [&](const auto& cost) { return std::pair(std::llround(left[cost.first]), sizes[cost.first]); });
    return least == own.end() ? -1 : static_cast<std::int32_t>(least->first);
  }

 private:
  const Ledger& ledger_;
  std::vector<PoolCosts> costs_of_;  // by farm
};

/// What farms may have of what they ask for, and what that leaves of the ceilings.
struct Division {
  std::vector<std::int32_t> guaranteed = {};
  std::vector<std::int32_t> beyond = {};
  Pools guarantees = {};
  Pools all = {};
};

Division divide(const Ledger& ledger, const UnderCeilings& ceilings, const std::vector<std::int32_t>& demands) {
  Division parts;
  for (const Ceiling& ceiling : ledger.state.ceilings) {
    parts.guarantees.sizes.push_back(std::min(ceiling.guaranteed, ceiling.maximum));
    parts.all.sizes.push_back(ceiling.maximum);
  }
  parts.guarantees.left = parts.guarantees.sizes;
  parts.all.left = parts.all.sizes;

  std::vector<std::int32_t> asked;
  for (std::size_t f = 0; f < demands.size(); ++f) {
    asked.push_back(std::min(ledger.state.farms[f].guaranteed, demands[f]));
  }
  parts.guaranteed = ceilings.divide(asked, parts.guarantees);
  for (std::size_t c = 0; c < parts.all.left.size(); ++c) {
    parts.all.left[c] -= parts.guarantees.sizes[c] - parts.guarantees.left[c];
  }
  std::vector<std::int32_t> beyond;
  for (std::size_t f = 0; f < demands.size(); ++f) beyond.push_back(demands[f] - parts.guaranteed[f]);
  parts.beyond = ceilings.divide(beyond, parts.all);
  return parts;
}

}  // namespace

void apply_ceilings(Ledger& ledger) {
  if (ledger.state.ceilings.empty()) return;
  const UnderCeilings ceilings(ledger);
  std::vector<std::int32_t> demands;
  std::vector<std::int32_t> possible;  // what fits on no node is no reason to give others less
  for (const Account& account : ledger.accounts) {
    const bool fits_nowhere = account.shape >= 0 && !ledger.fits_an_empty_node(account.shape);
    demands.push_back(account.demand);
    possible.push_back(fits_nowhere ? std::min(account.demand, account.held) : account.demand);
  }
  const Division of_all = divide(ledger, ceilings, demands);
  const Division of_possible = divide(ledger, ceilings, possible);

  for (std::size_t f = 0; f < demands.size(); ++f) {
    Account& account = ledger.accounts[f];
    const auto farm = static_cast<std::int32_t>(f);
    const Division& parts = possible[f] < demands[f] ? of_all : of_possible;
    const bool is_cut = parts.guaranteed[f] < std::min(ledger.farm(farm).guaranteed, demands[f]);
    const Pools& pools = parts.guarantees;
    if (const std::int32_t c = ceilings.tightest(farm, is_cut ? pools.left : pools.sizes, pools.sizes); c >= 0) {
      const auto counts = is_cut ? parts.guaranteed[f] : static_cast<std::int32_t>(pools.sizes[c]);
      if (counts < account.allowed) account.guarantee_ceiling = c;
      account.allowed = std::min(account.allowed, counts);
    }
    // What a farm holds may stay as long as what leaves it less could run nowhere.
    account.demand = std::max(parts.guaranteed[f] + parts.beyond[f], of_possible.guaranteed[f] + of_possible.beyond[f]);
    if (account.demand < demands[f]) account.demand_ceiling = ceilings.tightest(farm, parts.all.left, parts.all.sizes);
  }
}

}  // namespace podere::farm
