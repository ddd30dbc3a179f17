#include "podere/farm/ledger.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string_view>
#include <tuple>

namespace podere::farm {
namespace {

/// Whether the room of a pod that ends can be counted on.
bool will_leave(const Pod& pod, double now, double stuck_seconds) {
  return (pod.phase == Phase::kEnding || pod.is_reclaimed) && now <= pod.deadline + stuck_seconds;
}

}  // namespace

double work_at_risk(const Pod& pod, double now) {
  return pod.phase == Phase::kReady ? now - std::max(pod.ready_since, pod.checkpointed) : 0;
}

VictimOrder::VictimOrder(const Ledger& ledger, std::span<const std::int32_t> pods, bool by_time)
    : state_(&ledger.state) {
  const double now = state_->now;
  victims_.reserve(pods.size());
  for (const std::int32_t index : pods) {
    const Pod& pod = ledger.pod(index);
    const double from = by_time ? std::max(now, ledger.reclaimable_from(index)) : now;
    victims_.push_back({from, pod.phase == Phase::kReady, work_at_risk(pod, now), now - pod.created, index});
  }
}

void VictimOrder::sort_more(std::size_t i) {
  const auto goes_first = [&](const Victim& a, const Victim& b) {
    if (a.reclaimable_from != b.reclaimable_from) return a.reclaimable_from < b.reclaimable_from;
    if (a.is_ready != b.is_ready) return b.is_ready;
    if (a.at_risk != b.at_risk) return a.at_risk < b.at_risk;
    if (a.age != b.age) return a.age < b.age;
    return state_->pods[a.pod].uid < state_->pods[b.pod].uid;
  };
  const std::size_t n_wanted = std::min(victims_.size(), std::max<std::size_t>(4, 4 * (i + 1)));
  std::partial_sort(victims_.begin() + static_cast<std::ptrdiff_t>(n_sorted_),
                    victims_.begin() + static_cast<std::ptrdiff_t>(n_wanted), victims_.end(), goes_first);
  n_sorted_ = n_wanted;
}

Ledger::Ledger(const State& the_state, const Policy& the_policy, const std::vector<bool>& held_back)
    : state(the_state),
      policy(the_policy),
      room(the_state),
      accounts(the_state.farms.size()),
      is_leaving(the_state.pods.size()),
      freed_from(the_state.nodes.size()),
      shape_is_noted_(the_state.shapes.size()) {
  usable.reserve(state.nodes.size());
  for (const Node& node : state.nodes) {
    Resources of_farms = node.is_schedulable ? node.allocatable : Resources{};
    if (node.is_schedulable) of_farms -= node.used_by_others;
    usable.push_back(of_farms);
  }
  for (std::size_t i = 0; i < state.pods.size(); ++i) count(static_cast<std::int32_t>(i));
  sort_farms();
  std::ranges::sort(draining, {}, [&](std::int32_t index) {
    return std::tuple(farm_rank[pod(index).reclaimed_for], room.rank(pod(index).node),
                      std::string_view(pod(index).uid));
  });
  for (const std::int32_t index : draining) room.keep(pod(index).node, requests_of(index));
  group_by_farm();
  set_demands(held_back);
}

void Ledger::count(std::int32_t index) {
  const Pod& p = pod(index);
  const bool leaves = p.phase == Phase::kEnding || p.is_reclaimed;
  is_leaving[index] = leaves;
  if (p.node >= 0) {
    const bool frees_room = will_leave(p, state.now, policy.stuck_seconds);
    room.use(p.node, shape(p.shape).requests, frees_room);
    if (frees_room && p.reclaimed_for >= 0) draining.push_back(index);
    if (p.is_driver) {
      usable[p.node] -= shape(p.shape).requests;
    } else if (!leaves && !state.nodes[p.node].is_schedulable) {
      usable[p.node] += shape(p.shape).requests;  // a cordoned node still has those that are there
    }
  }
  if (p.is_reclaimed && p.phase != Phase::kEnding && p.deadline <= state.now) decision.expired.push_back(index);
  if (p.is_driver) return;
  if (leaves) {
    if (p.reclaimed_for < 0) return;
    Account& account = accounts[p.farm];
    ++account.returning;
    if (account.oldest_returning < 0 || is_older(index, account.oldest_returning)) account.oldest_returning = index;
    return;
  }
  ++(p.node >= 0 ? accounts[p.farm].held : accounts[p.farm].waiting);
  if (p.node < 0) note_shape(p.shape);
}

void Ledger::note_shape(std::int32_t index) {
  if (index < 0 || shape_is_noted_[index] != 0) return;
  shape_is_noted_[index] = 1;
  shapes.push_back(index);
}

void Ledger::sort_farms() {
  farms.resize(state.farms.size());
  std::iota(farms.begin(), farms.end(), 0);
  const auto by_key = [&](std::int32_t a, std::int32_t b) { return farm(a).key < farm(b).key; };
  if (!std::ranges::is_sorted(farms, by_key)) std::ranges::sort(farms, by_key);
  farm_rank.resize(farms.size());
  group = farms;
  for (std::size_t i = 0; i < farms.size(); ++i) {
    farm_rank[farms[i]] = static_cast<std::int32_t>(i);
    const std::string_view key = farm(farms[i]).key;
    const auto in_namespace = key.substr(0, key.find('/') + 1);  // empty: it is alone
    const bool is_same_namespace = i > 0 && !in_namespace.empty() && farm(farms[i - 1]).key.starts_with(in_namespace);
    group[farms[i]] = is_same_namespace ? group[farms[i - 1]] : farms[i];
  }
  for (const Farm& each : state.farms) priorities.push_back(each.priority);
  std::ranges::sort(priorities, std::greater<>());
  priorities.erase(std::unique(priorities.begin(), priorities.end()), priorities.end());
}

void Ledger::group_by_farm() {
  first_of_farm_.assign(farms.size() + 1, 0);
  for (std::size_t f = 0; f < farms.size(); ++f) {
    first_of_farm_[f + 1] = first_of_farm_[f] + accounts[f].held + accounts[f].waiting;
  }
  by_farm_.resize(first_of_farm_.back());
  std::vector<std::int32_t> next(first_of_farm_.begin(), first_of_farm_.end() - 1);
  for (std::size_t i = 0; i < state.pods.size(); ++i) {
    const Pod& p = state.pods[i];
    if (!is_leaving[i] && !p.is_driver) by_farm_[next[p.farm]++] = static_cast<std::int32_t>(i);
  }
}

void Ledger::set_demands(const std::vector<bool>& held_back) {
  for (const std::int32_t f : farms) {
    Account& account = accounts[f];
    account.shape = farm(f).template_shape;
    account.demand = held_back[f] ? 0 : farm(f).asked();
    account.allowed = farm(f).guaranteed;
    note_shape(account.shape);
    if (farm(f).has_template()) continue;
    // Others make its pods: it asks for those that are there, or were, which look like the oldest.
    account.demand = std::min(account.demand, account.held + account.waiting + account.returning);
    if (account.demand <= 0) continue;
    const auto pods = executors(f);
    const auto oldest = std::ranges::min_element(pods, [&](auto a, auto b) { return is_older(a, b); });
    note_shape(account.shape = pod(oldest == pods.end() ? account.oldest_returning : *oldest).shape);
  }
}

std::vector<std::int32_t> Ledger::waiting(std::int32_t farm) const {
  std::vector<std::int32_t> pods;
  if (accounts[farm].waiting == 0) return pods;
  for (const std::int32_t i : executors(farm)) {
    if (pod(i).node < 0 && is_leaving[i] == 0) pods.push_back(i);
  }
  std::ranges::sort(pods, [&](std::int32_t a, std::int32_t b) { return is_older(a, b); });
  return pods;
}

bool Ledger::fits_an_empty_node(std::int32_t index) const {
  return std::ranges::any_of(room.nodes(), [&](std::int32_t node) {
    return room.allows(index, node) && fits(shape(index).requests, state.nodes[node].allocatable);
  });
}

double Ledger::reclaimable_from(std::int32_t index) const {
  const Pod& p = pod(index);
  return p.phase == Phase::kReady ? p.ready_since + farm(p.farm).min_runtime_seconds : state.now;
}

}  // namespace podere::farm
