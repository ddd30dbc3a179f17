#include "podere/farm/reclaim.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <queue>
#include <tuple>

namespace podere::farm {
namespace {

enum class Floor : std::uint8_t { kShare, kGuarantee };

constexpr std::int32_t kMostDoublings = 5;  // of the time between retries

/// Farms that are over a floor, and of no higher priority.
struct Borrowers {
  Floor floor;
  std::int32_t priority;
};

/// Reclaims executors from farms that are over a floor, and pushes none below it.
class Reclaimer {
 public:
  Reclaimer(Ledger& ledger, Borrowers borrowers, bool counts_runtime)
      : ledger_(ledger), borrowers_(borrowers), counts_runtime_(counts_runtime) {}

  /// One executor for each need, proportionally.
  void reclaim_one_each(std::span<Need> needs);
  /// Several of one node for a need, as few as can be.
  void reclaim_several_each(std::span<Need> needs);

 private:
  struct Borrower {
    std::int32_t farm;
    std::int64_t over;
    std::int64_t n_reclaimed = 0;
    VictimOrder victims = {};  // made when first asked for
    std::size_t next = 0;      // of these; those before are no help
    bool has_victims = false;
  };
  /// Executors of one node that make room.
  struct Plan {
    std::int32_t node = -1;
    std::vector<std::int32_t> victims = {};
    double at_risk = 0;
    std::int32_t rank = 0;
    auto cost() const { return std::tuple(victims.size(), at_risk, rank); }
  };

  std::int32_t over(std::int32_t farm) const {
    if (ledger_.farm(farm).priority > borrowers_.priority) return 0;
    const Account& account = ledger_.accounts[farm];
    return account.over(borrowers_.floor == Floor::kShare ? account.share : account.guaranteed);
  }
  bool is_open(const Need& need) const {
    return !need.has_room() && need.wait != Wait::kRetry &&
           (need.from_equals || borrowers_.priority < ledger_.farm(need.farm).priority);
  }
  /// Whether this pod of a farm over the floor can be reclaimed, now or when it has run its least time.
  bool is_reclaimable(std::int32_t pod) const {
    return ledger_.is_leaving[pod] == 0 && ledger_.pod(pod).node >= 0 &&
           (!counts_runtime_ || ledger_.reclaimable_from(pod) <= ledger_.state.now);
  }
  bool use_left_over(Need& need);
  std::int32_t next_victim(Borrower& borrower, std::int32_t shape);
  void reclaim(std::span<const std::int32_t> pods, Need& need);
  void wait_until(double from, Need& need) const;
  void settle(Need& need, std::int32_t node);

  void find_pods_of_nodes();
  std::optional<Plan> plan(std::int32_t shape, std::int32_t node) const;
  std::vector<Plan> plans(std::int32_t shape) const;

  Ledger& ledger_;
  Borrowers borrowers_;
  bool counts_runtime_;
  std::vector<std::vector<std::int32_t>> pods_of_nodes_;  // reclaimable ones
};

bool Reclaimer::use_left_over(Need& need) {
  const std::int32_t node = ledger_.room.find_later(need.shape, Room::Kept::kUsed);
  if (node < 0) return false;
  wait_until(ledger_.freed_from[node], need);
  settle(need, node);
  return true;
}

/// `from`: when the executor whose room it is can be reclaimed.
void Reclaimer::wait_until(double from, Need& need) const {
  need.from = from;
  need.wait = from > ledger_.state.now ? Wait::kRuntime : Wait::kDrain;
}

void Reclaimer::settle(Need& need, std::int32_t node) {
  ledger_.room.promise(need.shape, node);
  need.node = node;
}

/// Reclaims pods for a need, or plans to do so when all of them have run their least time.
void Reclaimer::reclaim(std::span<const std::int32_t> pods, Need& need) {
  const double now = ledger_.state.now;
  double from = 0;
  for (const std::int32_t pod : pods) from = std::max(from, ledger_.reclaimable_from(pod));
  wait_until(from, need);
  for (const std::int32_t index : pods) {
    const Pod& pod = ledger_.pod(index);
    ledger_.freed_from[pod.node] = std::max(ledger_.freed_from[pod.node], from);
    ledger_.is_leaving[index] = 1;
    ++ledger_.accounts[pod.farm].planned;
    ledger_.room.end_pod(pod.node, ledger_.shape(pod.shape).requests);
    if (need.wait == Wait::kRuntime) continue;
    ++ledger_.accounts[pod.farm].reclaimed;
    ledger_.decision.reclaims.push_back(
        {index, pod.farm, need.farm, need.is_guarantee, now + ledger_.farm(pod.farm).drain_seconds});
  }
}

std::int32_t Reclaimer::next_victim(Borrower& borrower, std::int32_t shape) {
  if (!borrower.has_victims) {
    std::vector<std::int32_t> reclaimable;
    for (const std::int32_t pod : ledger_.executors(borrower.farm)) {
      if (is_reclaimable(pod)) reclaimable.push_back(pod);
    }
    borrower.victims = VictimOrder(ledger_, reclaimable, !counts_runtime_);
    borrower.has_victims = true;
  }
  for (; borrower.next < borrower.victims.size(); ++borrower.next) {
    const std::int32_t victim = borrower.victims[borrower.next];
    const Pod& pod = ledger_.pod(victim);
    if (ledger_.is_leaving[victim] != 0 || !ledger_.room.allows(shape, pod.node)) continue;
    Resources room = ledger_.room.room_later(pod.node);
    room += ledger_.shape(pod.shape).requests;
    if (fits(ledger_.shape(shape).requests, room)) return victim;
  }
  return -1;
}

void Reclaimer::reclaim_one_each(std::span<Need> needs) {
  std::vector<Borrower> borrowers;
  std::int64_t all_over = 0;
  for (const std::int32_t f : ledger_.farms) {
    if (over(f) > 0) borrowers.push_back({f, over(f)});
    all_over += std::max(0, over(f));
  }
  const auto n_needs = std::ranges::count_if(needs, [&](const Need& need) { return is_open(need); });
  const std::int64_t n_reclaimed = std::min<std::int64_t>(n_needs, all_over);
  // A borrower's quota of what is reclaimed is n_reclaimed * over / all_over. The one furthest below its quota is next:
  // in the end each has lost its quota rounded down, and those with the largest remainders one more.
  const auto comes_later = [&](const Borrower* a, const Borrower* b) {
    const auto order = [&](const Borrower* d) {
      return std::tuple(n_reclaimed * d->over - d->n_reclaimed * all_over, d->over, -ledger_.farm_rank[d->farm]);
    };
    return order(a) < order(b);
  };
  std::int32_t shape = -1;
  std::vector<Borrower*> heap;
  for (Need& need : needs) {
    if (!is_open(need)) continue;
    if (need.shape != shape) {
      shape = need.shape;
      heap.clear();
      for (Borrower& borrower : borrowers) {
        borrower.next = 0;
        if (borrower.n_reclaimed < borrower.over) heap.push_back(&borrower);
      }
      std::ranges::make_heap(heap, comes_later);
    }
    while (!need.has_room() && !use_left_over(need) && !heap.empty()) {
      std::ranges::pop_heap(heap, comes_later);
      Borrower& borrower = *heap.back();
      need.victim = next_victim(borrower, shape);
      if (need.victim >= 0) {
        reclaim({&need.victim, 1}, need);
        settle(need, ledger_.pod(need.victim).node);
        ++borrower.n_reclaimed;
      }
      if (need.victim < 0 || borrower.n_reclaimed == borrower.over) {
        heap.pop_back();  // it is no help, or no more
      } else {
        std::ranges::push_heap(heap, comes_later);
      }
    }
  }
}

void Reclaimer::find_pods_of_nodes() {
  pods_of_nodes_.assign(ledger_.state.nodes.size(), {});
  for (const std::int32_t f : ledger_.farms) {
    if (over(f) <= 0) continue;
    for (const std::int32_t pod : ledger_.executors(f)) {
      if (is_reclaimable(pod)) pods_of_nodes_[ledger_.pod(pod).node].push_back(pod);
    }
  }
  for (auto& pods : pods_of_nodes_) {
    VictimOrder order(ledger_, pods, !counts_runtime_);
    for (std::size_t i = 0; i < pods.size(); ++i) pods[i] = order[i];
  }
}

std::optional<Reclaimer::Plan> Reclaimer::plan(std::int32_t shape, std::int32_t node) const {
  const Resources& requests = ledger_.shape(shape).requests;
  Resources room = ledger_.room.room_later(node);
  Plan plan{.node = node, .rank = ledger_.room.rank(node)};
  std::vector<std::pair<std::int32_t, std::int32_t>> lost;  // by farm, as a node has few
  for (const std::int32_t pod : pods_of_nodes_[node]) {
    if (fits(requests, room)) break;
    const std::int32_t farm = ledger_.pod(pod).farm;
    if (!is_reclaimable(pod)) continue;
    auto entry = std::ranges::find(lost, farm, &std::pair<std::int32_t, std::int32_t>::first);
    if (entry == lost.end()) entry = lost.insert(entry, {farm, 0});
    if (entry->second >= over(farm)) continue;
    ++entry->second;
    room += ledger_.shape(ledger_.pod(pod).shape).requests;
    plan.victims.push_back(pod);
  }
  if (!fits(requests, room)) return std::nullopt;
  // Executors that turned out not to be needed stay, the costliest first.
  for (std::size_t i = plan.victims.size(); i-- > 0;) {
    Resources without = room;
    without -= ledger_.shape(ledger_.pod(plan.victims[i]).shape).requests;
    if (!fits(requests, without)) continue;
    room = without;
    plan.victims.erase(plan.victims.begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (const std::int32_t pod : plan.victims) plan.at_risk += work_at_risk(ledger_.pod(pod), ledger_.state.now);
  return plan;
}

/// Of all nodes where it can be done, as a heap with the best first.
std::vector<Reclaimer::Plan> Reclaimer::plans(std::int32_t shape) const {
  std::vector<Plan> plans;
  for (const std::int32_t node : ledger_.room.nodes()) {
    if (!ledger_.room.allows(shape, node)) continue;
    Resources most = ledger_.room.room_later(node);
    for (const std::int32_t pod : pods_of_nodes_[node]) {
      if (ledger_.is_leaving[pod] == 0) most += ledger_.shape(ledger_.pod(pod).shape).requests;
    }
    if (!fits(ledger_.shape(shape).requests, most)) continue;
    if (auto found = plan(shape, node)) plans.push_back(std::move(*found));
  }
  return plans;
}

void Reclaimer::reclaim_several_each(std::span<Need> needs) {
  const auto is_worse = [](const Plan& a, const Plan& b) { return a.cost() > b.cost(); };
  std::int32_t shape = -1;
  std::vector<Plan> heap;
  for (Need& need : needs) {
    if (!is_open(need)) continue;
    if (pods_of_nodes_.empty()) find_pods_of_nodes();
    if (need.shape != shape) {
      shape = need.shape;
      heap = plans(shape);
      std::ranges::make_heap(heap, is_worse);
    }
    while (!need.has_room() && !heap.empty()) {
      std::ranges::pop_heap(heap, is_worse);
      // Other reclaims meanwhile may have made it dearer: then it has to queue again.
      const auto best = plan(shape, heap.back().node);
      heap.pop_back();
      if (!best) continue;
      const bool is_best = heap.empty() || best->cost() <= heap.front().cost();
      if (is_best) {
        reclaim(best->victims, need);
        settle(need, best->node);
      }
      if (auto again = is_best ? plan(shape, best->node) : best) {
        heap.push_back(std::move(*again));
        std::ranges::push_heap(heap, is_worse);
      }
    }
  }
}

/// For needs such as this one, in turn.
std::vector<Borrowers> borrowers_for(const Need& need, const Ledger& ledger) {
  std::vector<Borrowers> all;
  const std::int32_t own = ledger.farm(need.farm).priority;
  for (auto priority = ledger.priorities.rbegin(); priority != ledger.priorities.rend(); ++priority) {
    if (!need.is_guarantee && *priority > own) break;
    all.push_back({Floor::kShare, *priority});
    if (need.is_guarantee || *priority < own) all.push_back({Floor::kGuarantee, *priority});
  }
  return all;
}

/// Farms whose freed room went to others that were not due it wait, longer each time.
void hold_retries(Ledger& ledger, std::span<Need> needs) {
  std::vector<std::int32_t> lost(ledger.farms.size());
  for (const std::int32_t f : ledger.farms) {
    const History& history = ledger.farm(f).history;
    lost[f] = needs.front().is_guarantee ? history.rooms_owed : history.shares_owed;
  }
  std::int32_t all_lost = std::accumulate(lost.begin(), lost.end(), 0);
  for (const Need& need : needs) {  // what is still free is not lost
    lost[need.farm] -= need.wait == Wait::kStart;
    all_lost -= need.wait == Wait::kStart;
  }
  for (Need& need : needs) {
    const std::int32_t count = std::min(lost[need.farm], all_lost);
    if (need.has_room() || count <= 0) continue;
    const double retry_at = ledger.farm(need.farm).history.last_freed +
                            ledger.policy.retry_seconds * (1 << std::min(count - 1, kMostDoublings));
    if (ledger.state.now >= retry_at) continue;
    need.wait = Wait::kRetry;
    need.from = retry_at;
  }
}

/// Where victims are larger than the executors that wait, some of these may find room beside others, and the victims
/// that were chosen for them can stay.
void keep_unneeded_victims(Ledger& ledger, std::span<Need> needs) {
  const auto differs = [&](const Need& need) {
    return need.victim >= 0 && ledger.requests_of(need.victim) != ledger.shape(need.shape).requests;
  };
  if (std::ranges::none_of(needs, differs)) return;
  std::vector<std::int32_t> nodes;
  for (const Need& need : needs) {
    if (need.victim >= 0) nodes.push_back(need.node);
  }
  std::int32_t shape = -1;
  std::vector<std::int32_t> roomy;  // where executors of that shape have room left
  for (Need& need : needs) {
    if (need.victim < 0 || need.wait != Wait::kDrain) continue;
    if (need.shape != shape) {
      shape = need.shape;
      roomy.clear();
      std::ranges::copy_if(nodes, std::back_inserter(roomy),
                           [&](std::int32_t node) { return ledger.room.fits_later(shape, node); });
    }
    const Pod& victim = ledger.pod(need.victim);
    const Resources& requests = ledger.shape(victim.shape).requests;
    const auto other = std::ranges::find_if(
        roomy, [&](std::int32_t node) { return node != need.node && ledger.room.fits_later(shape, node); });
    if (other == roomy.end()) continue;
    ledger.room.withdraw_promise(need.shape, need.node);
    if (!fits(requests, ledger.room.room_later(need.node))) {
      ledger.room.promise(need.shape, need.node);
      continue;
    }
    ledger.room.keep_pod(need.node, requests);
    ledger.room.promise(need.shape, *other);
    ledger.is_leaving[need.victim] = 0;
    --ledger.accounts[victim.farm].planned;
    --ledger.accounts[victim.farm].reclaimed;
    std::erase_if(ledger.decision.reclaims, [&](const Reclaim& reclaim) { return reclaim.pod == need.victim; });
    need.node = *other;
    need.victim = -1;
  }
}

}  // namespace

void reclaim_room(Ledger& ledger, std::span<Need> needs) {
  if (std::ranges::all_of(needs, [](const Need& need) { return need.has_room(); })) return;
  hold_retries(ledger, needs);
  for (const bool counts_runtime : {true, false}) {
    for (const Borrowers& borrowers : borrowers_for(needs.front(), ledger)) {
      Reclaimer reclaimer(ledger, borrowers, counts_runtime);
      reclaimer.reclaim_one_each(needs);
      if (borrowers.floor == Floor::kGuarantee) reclaimer.reclaim_several_each(needs);
    }
  }
  keep_unneeded_victims(ledger, needs);
}

}  // namespace podere::farm
