#include "podere/farm/policy.h"

#include <algorithm>
#include <span>
#include <utility>

#include "podere/farm/admit.h"
#include "podere/farm/capacity.h"
#include "podere/farm/ceilings.h"
#include "podere/farm/gang.h"
#include "podere/farm/ledger.h"
#include "podere/farm/needs.h"
#include "podere/farm/reclaim.h"

namespace podere::farm {
namespace {

/// What each farm that asks for anything is entitled to: its guarantee, scaled if all of them exceed the cluster, so
/// that namespaces have equal parts of the room, and in them farms; then its weighted share of what the guarantees, and
/// farms of higher priority, leave.
Capacity set_targets(Ledger& ledger) {
  Capacity capacity(ledger.state, ledger.usable, ledger.shapes);
  std::vector<std::int32_t> asking;
  for (const std::int32_t f : ledger.farms) {
    if (ledger.accounts[f].demand > 0 && ledger.accounts[f].shape >= 0) asking.push_back(f);
  }
  const auto speed = [&](std::int32_t shape) { return 1 / std::max(1e-12, capacity.dominant_share(shape)); };
  std::vector<Claim> claims;
  for (const std::int32_t f : asking) {
    const Account& account = ledger.accounts[f];
    claims.push_back({account.shape, std::min(account.allowed, account.demand), speed(account.shape), ledger.group[f]});
  }
  ledger.decision.guaranteed_load = capacity.load(claims);
  const std::vector<std::int32_t> guaranteed = capacity.divide(claims);
  for (std::size_t i = 0; i < asking.size(); ++i) {
    Account& account = ledger.accounts[asking[i]];
    account.guaranteed = account.share = guaranteed[i];
  }
  for (const std::int32_t priority : ledger.priorities) {
    // Where farms of equal priority do not reclaim from each other, those with no farm below them need no share.
    if (ledger.policy.mode == Mode::kProportional && priority == ledger.priorities.back()) break;
    claims.clear();
    std::vector<Account*> accounts;
    for (const std::int32_t f : asking) {
      if (ledger.farm(f).priority != priority) continue;
      Account& account = *accounts.emplace_back(&ledger.accounts[f]);
      claims.push_back({account.shape, account.demand - account.guaranteed,
                        weight_of(ledger.farm(f), ledger.policy) * speed(account.shape)});
    }
    const std::vector<std::int32_t> borrowed = capacity.divide(claims);
    for (std::size_t i = 0; i < borrowed.size(); ++i) accounts[i]->share += borrowed[i];
  }
  return capacity;
}

/// Why an executor has no room by any means.
Wait cause(const Ledger& ledger, const Capacity& capacity, std::int32_t shape) {
  if (capacity.slots(shape) > 0) return Wait::kRoom;
  return ledger.fits_an_empty_node(shape) ? Wait::kHeldByOthers : Wait::kTooLarge;
}

void name_causes(const Ledger& ledger, const Capacity& capacity, std::span<Need> needs) {
  for (Need& need : needs) {
    if (need.wait == Wait::kUnknown) need.wait = cause(ledger, capacity, need.shape);
  }
}

/// Of a farm's guaranteed executors that fit on no node, or that others keep out, a few wait for users and autoscalers
/// to see: there is no limit to what may be asked for. Of a gang that starts all come at once, when all have
/// room.
void create_guaranteed(Ledger& ledger) {
  constexpr std::int32_t kMostStuck = 10;
  std::vector<std::int32_t> n_stuck(ledger.state.farms.size());
  std::vector<bool> awaits_gang(ledger.state.farms.size());
  for (const Need& need : ledger.needs) {
    const bool is_of_gang = is_starting_gang(ledger.farm(need.farm), ledger.accounts[need.farm].held);
    if (is_of_gang && need.wait != Wait::kStart) awaits_gang[need.farm] = true;
  }
  for (const Need& need : ledger.needs) {
    if (!need.is_guarantee) continue;
    const bool is_stuck = need.wait == Wait::kTooLarge || need.wait == Wait::kHeldByOthers;
    if (is_stuck && ++n_stuck[need.farm] > kMostStuck) continue;
    if (need.pod >= 0) continue;
    const std::int32_t node = need.wait == Wait::kStart ? need.node : -1;
    const bool awaits_drain = need.wait == Wait::kDrain || awaits_gang[need.farm];
    ledger.decision.creations.push_back({need.farm, node, false, awaits_drain});
  }
}

std::int32_t& count_of(Waiting& waiting, Wait wait) {
  switch (wait) {
    case Wait::kStart:
      return waiting.for_start;
    case Wait::kDrain:
      return waiting.for_drain;
    case Wait::kRuntime:
      return waiting.for_runtime;
    case Wait::kRetry:
      return waiting.for_retry;
    case Wait::kTooLarge:
      return waiting.too_large;
    case Wait::kHeldByOthers:
      return waiting.held_by_others;
    default:
      return waiting.for_room;
  }
}

void count_need(Outlook& outlook, const Need& need) {
  ++count_of(need.is_guarantee ? outlook.guarantee : outlook.beyond, need.wait);
  const bool waits_for_time = need.wait == Wait::kRuntime || need.wait == Wait::kRetry;
  if (waits_for_time) outlook.retry_at = std::max(outlook.retry_at, need.from);
}

/// Farms that room is reclaimed from, by this decision and by earlier ones.
void name_reclaimed_from(const Ledger& ledger, std::vector<Outlook>& outlooks) {
  const auto add = [&](std::int32_t from, std::int32_t to, double deadline) {
    auto& borrowers = outlooks[to].from;
    const auto found = std::ranges::find(borrowers, from, &FarmExecutors::farm);
    ++(found == borrowers.end() ? borrowers.emplace_back(FarmExecutors{from, 0}) : *found).executors;
    outlooks[to].drained_by = std::max(outlooks[to].drained_by, deadline);
  };
  for (const Reclaim& reclaim : ledger.decision.reclaims) add(reclaim.from, reclaim.for_farm, reclaim.deadline);
  for (const Pod& pod : ledger.state.pods) {
    const bool is_on_its_way = pod.reclaimed_for >= 0 && (pod.is_reclaimed || pod.phase == Phase::kEnding);
    if (is_on_its_way) add(pod.farm, pod.reclaimed_for, pod.deadline);
  }
  for (Outlook& outlook : outlooks) {
    std::ranges::sort(outlook.from, {}, [&](const FarmExecutors& from) { return ledger.farm_rank[from.farm]; });
  }
}

std::vector<Outlook> look_out(const Ledger& ledger, const Capacity& capacity,
                              const std::vector<std::int32_t>& admitted) {
  std::vector<Outlook> outlooks;
  outlooks.reserve(ledger.accounts.size());
  for (const Account& account : ledger.accounts) {
    outlooks.push_back({.held = account.held,
                        .demand = account.demand,
                        .allowed = account.allowed,
                        .guaranteed = account.guaranteed,
                        .share = account.share,
                        .shape = account.shape,
                        .guarantee_ceiling = account.guarantee_ceiling,
                        .demand_ceiling = account.demand_ceiling});
  }
  for (const Reclaim& reclaim : ledger.decision.reclaims) --outlooks[reclaim.from].held;
  for (const Need& need : ledger.needs) count_need(outlooks[need.farm], need);
  for (std::size_t f = 0; f < outlooks.size(); ++f) {
    Outlook& outlook = outlooks[f];
    outlook.beyond.for_start += admitted[f];
    // Whatever else it asks for waits for borrowed room, to which it has no right.
    const std::int32_t rest = outlook.demand - outlook.held - outlook.guarantee.all() - outlook.beyond.all();
    if (rest <= 0) continue;
    count_of(outlook.beyond, cause(ledger, capacity, outlook.shape)) += rest;  // a farm that asks has a shape
  }
  name_reclaimed_from(ledger, outlooks);
  return outlooks;
}

Decision decide_without(const State& state, const Policy& policy, const std::vector<bool>& held_back) {
  Ledger ledger(state, policy, held_back);
  apply_ceilings(ledger);
  remove_outdated(ledger);
  remove_surplus(ledger);
  const Capacity capacity = set_targets(ledger);

  add_guarantee_needs(ledger, capacity);
  find_room(ledger, ledger.needs);
  reclaim_room(ledger, ledger.needs);
  name_causes(ledger, capacity, ledger.needs);
  create_guaranteed(ledger);

  std::vector<std::int32_t> admitted(state.farms.size());
  for (const std::int32_t priority : ledger.priorities) {
    admit(ledger, capacity, priority, admitted);
    const std::size_t n_before = ledger.needs.size();
    add_share_needs(ledger, capacity, priority, admitted);
    const auto share_needs = std::span(ledger.needs).subspan(n_before);
    find_room(ledger, share_needs);
    reclaim_room(ledger, share_needs);
    name_causes(ledger, capacity, share_needs);
  }

  ledger.decision.outlooks = look_out(ledger, capacity, admitted);
  return std::move(ledger.decision);
}

}  // namespace

Decision decide(const State& state, const Policy& policy) {
  return start_gangs_whole(
      state, [&](const std::vector<bool>& held_back) { return decide_without(state, policy, held_back); });
}

}  // namespace podere::farm
