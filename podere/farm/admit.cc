#include "podere/farm/admit.h"

#include <algorithm>
#include <queue>
#include <tuple>

#include "podere/farm/needs.h"

namespace podere::farm {
namespace {

/// A pod without a node goes at once.
void remove(Ledger& ledger, std::int32_t index, bool is_surplus) {
  const Pod& pod = ledger.pod(index);
  const bool drains = pod.node >= 0;
  Account& account = ledger.accounts[pod.farm];
  ledger.is_leaving[index] = 1;
  --(drains ? account.held : account.waiting);
  if (drains) {
    ledger.room.end_pod(pod.node, ledger.shape(pod.shape).requests);
    if (!ledger.state.nodes[pod.node].is_schedulable) ledger.usable[pod.node] -= ledger.shape(pod.shape).requests;
  }
  const double deadline = ledger.state.now + (drains ? ledger.farm(pod.farm).drain_seconds : 0);
  ledger.decision.removals.push_back({index, deadline, is_surplus});
}

/// Whether executors wait, guaranteed ones or those of a higher priority, with which those that have no room may not
/// compete.
bool others_wait(const Ledger& ledger) {
  return std::ranges::any_of(
      ledger.needs, [](const Need& need) { return need.wait != Wait::kTooLarge && need.wait != Wait::kHeldByOthers; });
}

/// Whether room comes free that those who show what is missing might get.
bool room_is_awaited(const Ledger& ledger) {
  return std::ranges::any_of(ledger.needs, [](const Need& need) {
    return need.wait == Wait::kDrain || need.wait == Wait::kRuntime || need.wait == Wait::kRetry;
  });
}

/// How many executors of a farm are to wait without room, to show what of its guarantee is cut.
std::int32_t n_to_show(const Ledger& ledger, std::int32_t farm, std::int32_t admitted) {
  const Account& account = ledger.accounts[farm];
  const std::int32_t cut =
      std::min(account.allowed, account.demand) - std::max(account.guaranteed, account.staying()) - admitted;
  return std::clamp(cut, 0, std::min(ledger.policy.pending_pods, ledger.farm(farm).most_shown));
}

/// Of pods that wait beyond guarantees: those that have room now hold it, large ones first. Others are in the way, but
/// for those that are to show what is missing. Returns how many stay without room, by farm.
std::vector<std::int32_t> sort_out_waiting(Ledger& ledger, const Capacity& capacity, std::int32_t priority,
                                           std::vector<std::int32_t>& admitted) {
  std::vector<std::int32_t> beyond;
  for (const std::int32_t f : ledger.farms) {
    const Account& account = ledger.accounts[f];
    if (account.waiting == 0 || ledger.farm(f).priority != priority) continue;
    const std::vector<std::int32_t> waiting = ledger.waiting(f);
    const std::int32_t n_guaranteed = std::clamp(account.guaranteed - account.held, 0, account.waiting);
    beyond.insert(beyond.end(), waiting.begin() + n_guaranteed, waiting.end());
  }
  std::ranges::stable_sort(beyond, {}, [&](std::int32_t pod) { return capacity.slots(ledger.pod(pod).shape); });
  std::vector<std::int32_t> roomless;
  for (const std::int32_t pod : beyond) {
    const Pod& p = ledger.pod(pod);
    const std::int32_t node = ledger.room.find_now(p.shape);
    if (node >= 0) {
      ledger.room.promise(p.shape, node);
      ++admitted[p.farm];
    } else if (ledger.farm(p.farm).has_template()) {
      roomless.push_back(pod);
    }
  }
  const bool is_in_the_way = others_wait(ledger);
  const bool may_show = !room_is_awaited(ledger);
  std::vector<std::int32_t> shown(ledger.farms.size());
  for (const bool is_for_show : {false, true}) {
    for (const std::int32_t pod : roomless) {
      if (ledger.pod(pod).shows_missing != is_for_show) continue;
      const std::int32_t f = ledger.pod(pod).farm;
      const bool stays = is_for_show ? may_show && shown[f] < n_to_show(ledger, f, admitted[f]) : !is_in_the_way;
      stays ? void(++shown[f]) : remove(ledger, pod, false);
    }
  }
  return shown;
}

void create_in_borrowed_room(Ledger& ledger, const Capacity& capacity, std::int32_t priority,
                             std::vector<std::int32_t>& admitted) {
  using Turn =
      std::tuple<bool, double, std::int32_t, std::int32_t>;  // has its share; how much with one more; rank; farm
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> queue;
  std::vector<std::int32_t> created(ledger.farms.size());
  const auto add = [&](std::int32_t f) {
    const Account& account = ledger.accounts[f];
    const std::int32_t has = std::max(account.staying() + account.waiting, account.guaranteed) + created[f];
    if (has >= account.demand) return;
    queue.emplace(has >= account.share, borrowed_share(ledger, capacity, f, has + 1), ledger.farm_rank[f], f);
  };
  for (const std::int32_t f : ledger.farms) {
    if (ledger.farm(f).has_template() && ledger.farm(f).priority == priority) add(f);
  }
  while (!queue.empty()) {
    const std::int32_t f = std::get<3>(queue.top());
    queue.pop();
    const std::int32_t shape = ledger.farm(f).template_shape;
    const std::int32_t node = ledger.room.find_now(shape);
    if (node < 0) continue;  // and there will be none for this farm
    ledger.room.promise(shape, node);
    ledger.decision.creations.push_back({f, node, true});
    ++admitted[f];
    ++created[f];
    add(f);
  }
}

}  // namespace

void remove_outdated(Ledger& ledger) {
  for (const std::int32_t f : ledger.farms) {
    if (!ledger.farm(f).has_template()) continue;
    for (const std::int32_t pod : ledger.waiting(f)) {
      if (ledger.pod(pod).is_outdated) remove(ledger, pod, false);
    }
  }
}

void remove_surplus(Ledger& ledger) {
  for (const std::int32_t f : ledger.farms) {
    const Account& account = ledger.accounts[f];
    if (!ledger.farm(f).has_template()) continue;
    std::int32_t surplus = account.held + account.waiting - account.demand;
    if (surplus <= 0) continue;
    const std::vector<std::int32_t> waiting = ledger.waiting(f);
    for (auto pod = waiting.rbegin(); pod != waiting.rend() && surplus > 0; ++pod, --surplus)
      remove(ledger, *pod, true);
    std::vector<std::int32_t> victims;
    for (const std::int32_t pod : ledger.executors(f)) {
      if (ledger.is_leaving[pod] == 0 && ledger.pod(pod).node >= 0) victims.push_back(pod);
    }
    VictimOrder order(ledger, victims, false);
    for (std::int32_t i = 0; i < surplus; ++i) remove(ledger, order[static_cast<std::size_t>(i)], true);
  }
}

void admit(Ledger& ledger, const Capacity& capacity, std::int32_t priority, std::vector<std::int32_t>& admitted) {
  const std::vector<std::int32_t> shown = sort_out_waiting(ledger, capacity, priority, admitted);
  create_in_borrowed_room(ledger, capacity, priority, admitted);
  if (ledger.policy.pending_pods == 0 || room_is_awaited(ledger)) return;
  for (const std::int32_t f : ledger.farms) {
    if (ledger.farm(f).priority != priority || !ledger.farm(f).has_template()) continue;
    for (std::int32_t n = shown[f]; n < n_to_show(ledger, f, admitted[f]); ++n) {
      ledger.decision.creations.push_back({.farm = f, .node = -1, .is_borrowed = true, .shows_missing = true});
    }
  }
}

}  // namespace podere::farm
