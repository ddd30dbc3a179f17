#include "podere/farm/policy.h"

#include <algorithm>
#include <span>
#include <utility>

#include "podere/farm/admit.h"
#include "podere/farm/capacity.h"
#include "podere/farm/ledger.h"
#include "podere/farm/needs.h"
#include "podere/farm/take.h"

namespace podere::farm {
namespace {

/// What each farm that asks for anything is entitled to: its guarantee, scaled if all of them exceed the cluster; then
/// its weighted share of what the guarantees leave.
Capacity set_targets(Ledger& ledger) {
  Capacity capacity(ledger.state, ledger.usable, ledger.shapes);
  std::vector<std::int32_t> asking;
  for (const std::int32_t f : ledger.farms) {
    if (ledger.accounts[f].demand > 0 && ledger.accounts[f].shape >= 0) asking.push_back(f);
  }
  std::vector<Claim> claims;
  for (const std::int32_t f : asking) {
    const std::int32_t guaranteed = std::min(ledger.farm(f).guaranteed, ledger.accounts[f].demand);
    claims.push_back({ledger.accounts[f].shape, guaranteed, std::max(1.0, 1.0 * guaranteed)});
  }
  ledger.decision.guaranteed_load = capacity.load(claims);
  const std::vector<std::int32_t> guaranteed = capacity.divide(claims);
  for (std::size_t i = 0; i < asking.size(); ++i) {
    Account& account = ledger.accounts[asking[i]];
    account.guaranteed = account.share = guaranteed[i];
    claims[i].most = account.demand - account.guaranteed;
    claims[i].speed =
        weight_of(ledger.farm(asking[i]), ledger.policy) / std::max(1e-12, capacity.dominant_share(account.shape));
  }
  if (ledger.policy.mode == Mode::kProportional) return capacity;
  const std::vector<std::int32_t> lent = capacity.divide(claims);
  for (std::size_t i = 0; i < asking.size(); ++i) ledger.accounts[asking[i]].share += lent[i];
  return capacity;
}

/// What could not be had by any means has a cause.
void name_causes(const Capacity& capacity, std::span<Need> needs) {
  for (Need& need : needs) {
    if (need.wait == Wait::kUnknown) need.wait = capacity.slots(need.shape) == 0 ? Wait::kTooLarge : Wait::kRoom;
  }
}

void create_guaranteed(Ledger& ledger) {
  for (const Need& need : ledger.needs) {
    if (!need.is_guarantee || need.pod >= 0) continue;
    const std::int32_t node = need.wait == Wait::kStart ? need.node : -1;
    ledger.decision.creations.push_back({need.farm, node, false, need.wait == Wait::kDrain});
  }
}

void count_need(Outlook& outlook, const Need& need) {
  Waiting& waiting = need.is_guarantee ? outlook.guarantee : outlook.beyond;
  switch (need.wait) {
    case Wait::kStart:
      ++waiting.for_start;
      break;
    case Wait::kDrain:
      ++waiting.for_drain;
      break;
    case Wait::kRuntime:
      ++waiting.for_runtime;
      break;
    case Wait::kRetry:
      ++waiting.for_retry;
      break;
    case Wait::kTooLarge:
      ++waiting.too_large;
      break;
    default:
      ++waiting.for_room;
  }
  const bool waits_for_time = need.wait == Wait::kRuntime || need.wait == Wait::kRetry;
  if (waits_for_time) outlook.retry_at = std::max(outlook.retry_at, need.from);
}

/// Whom room is taken from, by this decision and by earlier ones.
void name_givers(const Ledger& ledger, std::vector<Outlook>& outlooks) {
  const auto add = [&](std::int32_t from, std::int32_t to, double deadline) {
    auto& givers = outlooks[to].from;
    const auto giver = std::ranges::find(givers, from, &Giver::farm);
    ++(giver == givers.end() ? givers.emplace_back(Giver{from, 0}) : *giver).executors;
    outlooks[to].drained_by = std::max(outlooks[to].drained_by, deadline);
  };
  for (const Reclaim& reclaim : ledger.decision.reclaims) add(reclaim.from, reclaim.for_farm, reclaim.deadline);
  for (const Pod& pod : ledger.state.pods) {
    const bool is_on_its_way = pod.taken_for >= 0 && (pod.is_taken || pod.phase == Phase::kEnding);
    if (is_on_its_way) add(pod.farm, pod.taken_for, pod.deadline);
  }
  for (Outlook& outlook : outlooks) {
    std::ranges::sort(outlook.from, {}, [&](const Giver& giver) { return ledger.farm_rank[giver.farm]; });
  }
}

std::vector<Outlook> look_out(const Ledger& ledger, const Capacity& capacity,
                              const std::vector<std::int32_t>& admitted) {
  std::vector<Outlook> outlooks;
  outlooks.reserve(ledger.accounts.size());
  for (const Account& account : ledger.accounts) {
    outlooks.push_back({account.held, account.demand, account.guaranteed, account.share});
  }
  for (const Reclaim& reclaim : ledger.decision.reclaims) --outlooks[reclaim.from].held;
  for (const Need& need : ledger.needs) count_need(outlooks[need.farm], need);
  for (std::size_t f = 0; f < outlooks.size(); ++f) {
    Outlook& outlook = outlooks[f];
    outlook.beyond.for_start += admitted[f];
    // Whatever else it asks for waits for lent room, which nobody has to give.
    const std::int32_t rest = outlook.demand - outlook.held - outlook.guarantee.all() - outlook.beyond.all();
    if (rest <= 0) continue;
    const bool is_too_large = capacity.slots(ledger.accounts[f].shape) == 0;  // whoever asks has a shape
    (is_too_large ? outlook.beyond.too_large : outlook.beyond.for_room) += rest;
  }
  name_givers(ledger, outlooks);
  return outlooks;
}

}  // namespace

Decision decide(const State& state, const Policy& policy) {
  Ledger ledger(state, policy);
  remove_surplus(ledger);
  const Capacity capacity = set_targets(ledger);

  add_guarantee_needs(ledger, capacity);
  find_room(ledger, ledger.needs);
  take_room(ledger, ledger.needs);
  name_causes(capacity, ledger.needs);
  create_guaranteed(ledger);

  const std::vector<std::int32_t> admitted = admit(ledger, capacity);
  const std::size_t n_guarantee_needs = ledger.needs.size();
  add_share_needs(ledger, capacity, admitted);
  const auto share_needs = std::span(ledger.needs).subspan(n_guarantee_needs);
  find_room(ledger, share_needs);
  take_room(ledger, share_needs);
  name_causes(capacity, share_needs);

  ledger.decision.outlooks = look_out(ledger, capacity, admitted);
  return std::move(ledger.decision);
}

}  // namespace podere::farm
