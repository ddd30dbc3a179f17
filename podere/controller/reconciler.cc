#include "podere/controller/reconciler.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include "podere/base/clock.h"
#include "podere/controller/json.h"
#include "podere/farm/explain.h"
#include "podere/kube/time.h"

namespace podere::controller {
namespace {

using kube::EventRecorder;
using kube::ObjectKey;

constexpr double kPatienceSeconds = 10;   // with a watch that does not show what was written
constexpr double kStatusSeconds = 1;      // between writes of one status
constexpr double kFirstRetrySeconds = 5;  // of what the API server refuses; doubles up to
constexpr double kLongestRetrySeconds = 300;
constexpr double kCrashMemorySeconds = 600;  // executors that ended by themselves are counted so long
constexpr std::size_t kKeptFinished = 3;     // of their pods, for whoever looks for the cause
constexpr double kNever = std::numeric_limits<double>::infinity();

double now_seconds() { return std::chrono::duration<double>(kube::now().time_since_epoch()).count(); }

double doubled(double first, int times, double longest) {
  return std::min(longest, first * std::exp2(std::min(times, 30)));
}

template <typename Kept>
std::function<void(const typename kube::Store<Kept>::Change&)> if_changed(const std::function<void()>& on_change,
                                                                          bool (*is_same)(const Kept&, const Kept&)) {
  return [on_change, is_same](const auto& change) {
    if (!change.before || !change.after || !is_same(*change.before, *change.after)) on_change();
  };
}

template <typename Kept>
bool are_equal(const Kept& a, const Kept& b) {
  return a == b;
}
template <typename Kept>
bool ask_the_same(const Kept& a, const Kept& b) {
  return a.asks_the_same(b);
}

}  // namespace

Stores::Stores(NeedsTable& needs, const std::function<void()>& on_change)
    : pods([&needs](const Json& pod) { return pod_facts_of(pod, needs); },
           if_changed<PodFacts>(on_change, are_equal<PodFacts>)),
      nodes(node_facts_of, if_changed<NodeFacts>(on_change, are_equal<NodeFacts>)),
      farms([&needs](const Json& farm) { return farm_object_of(farm, needs); },
            if_changed<FarmObject>(on_change, ask_the_same<FarmObject>)),
      managers(manager_object_of, if_changed<ManagerObject>(on_change, ask_the_same<ManagerObject>)) {}

Assignment assign(const Objects<FarmObject>& farms, const Objects<ManagerObject>& managers) {
  Assignment assignment{.manager = std::vector<std::string>(farms.size()),
                        .others = std::vector<std::vector<std::string>>(farms.size())};
  for (std::size_t f = 0; f < farms.size(); ++f) {
    for (const auto& [key, manager] : managers) {
      if (!manager->farms.matches(farms[f].second->labels)) continue;
      if (assignment.manager[f].empty()) {
        assignment.manager[f] = key.name;
      } else {
        assignment.others[f].push_back(key.name);
      }
    }
  }
  return assignment;
}

/// All that a pass knows.
struct Reconciler::Pass {
  const ObjectKey key;
  const double now;
  const ClusterView view;
  const Assignment assignment;
  const kube::Store<ManagerObject>::Pointer manager;  // null: of no manager
  const farm::Policy policy;
  const Ownership owners;

  Scope scope = {};
  std::map<std::string, std::string> blocked_because = {};  // by UID of the farm
  ClusterState cluster = {};
  farm::Decision decision = {};
  ActionResult result = {};
  double next_look = kNever;

  void look_again_at(double time) { next_look = std::min(next_look, std::max(time, now + 0.05)); }
  const ObjectKey& farm_key(std::size_t farm) const { return entry(farm).first; }
  const FarmObject& farm(std::size_t farm) const { return *entry(farm).second; }
  std::size_t in_view(std::size_t farm) const { return static_cast<std::size_t>(cluster.farms[farm]); }

 private:
  const Objects<FarmObject>::value_type& entry(std::size_t farm) const { return view.farms[in_view(farm)]; }
};

Reconciler::Reconciler(Parts parts, const ActionOptions& actions)
    : parts_(std::move(parts)),
      actions_(parts_.writer, pending_, parts_.needs, parts_.events, parts_.metrics, actions) {}

std::vector<ObjectKey> Reconciler::keys() const {
  std::vector<ObjectKey> keys = {kNoManager};
  for (const auto& [key, manager] : parts_.stores.managers.all()) keys.push_back(key);
  return keys;
}

double Reconciler::reconcile(const ObjectKey& key) {
  const auto manager = parts_.stores.managers.get(key);
  if (manager == nullptr && !(key == kNoManager)) {  // it was deleted
    histories_.erase(key);
    parts_.metrics.set_farms(key.name, 0, 0, 0);
    return kNever;
  }
  const double now = now_seconds();
  settle_doubts(now);
  const ClusterView view = look();
  Pass pass{.key = key,
            .now = now,
            .view = view,
            .assignment = assign(view.farms, parts_.stores.managers.all()),
            .manager = manager,
            .policy = manager ? manager->policy : farm::Policy(),
            .owners = find_owners(view)};
  for (std::size_t f = 0; f < view.farms.size(); ++f) {
    if (pass.assignment.manager[f] == key.name) pass.scope.farms.push_back(static_cast<std::int32_t>(f));
  }
  pass.scope.has_guarantees = manager != nullptr;
  if (manager == nullptr && pass.scope.farms.empty()) return kNever;
  forget_gone(view);
  find_crash_loops(pass);
  block_refused(pass);

  pass.cluster = cluster_state(view, pass.owners, pass.scope, now);
  farm::check(pass.cluster.state);
  histories_[key].advance(pass.cluster.state, pass.policy,
                          [&](std::size_t farm) { return history_of(*pass.farm(farm).status); });
  const Stopwatch since_start;
  pass.decision = farm::decide(pass.cluster.state, pass.policy);
  parts_.metrics.decided(since_start.seconds());
  pass.result = actions_.carry_out({pass.view, pass.cluster, pass.decision});
  log_deeds(pass);
  note_refusals(pass);
  tell(pass);
  plan_next_look(pass);
  histories_[key].remember(std::move(pass.cluster.state));
  if (!pass.result.failures.empty()) {
    throw_error("{} writes failed, such as: {}", pass.result.failures.size(), pass.result.failures.front());
  }
  return pass.next_look - now;
}

void Reconciler::log_deeds(const Pass& pass) const {
  if (pass.result.n_written == 0) return;
  parts_.log(fmt::format("{}: created {}, took {}, removed {} executors",
                         pass.manager ? "farm manager " + pass.key.name : "farms of no manager",
                         pass.decision.creations.size(), pass.decision.reclaims.size(), pass.decision.removals.size()));
}

void Reconciler::settle_doubts(double now) {
  for (const ObjectKey& key : pending_.in_doubt(now, kPatienceSeconds)) {
    const auto pod = parts_.client.find(kube::kPods, key);
    pending_.settle(key, pod ? std::make_shared<const PodFacts>(pod_facts_of(*pod, parts_.needs)) : nullptr, now);
  }
}

ClusterView Reconciler::look() {
  // Pods first: of a node or a farm that is newer than its pods nothing is missed.
  Objects<PodFacts> pods = pending_.overlay(parts_.stores.pods.all());
  return {std::move(pods), parts_.stores.nodes.all(), parts_.stores.farms.all()};
}

void Reconciler::forget_gone(const ClusterView& view) {
  if (memories_.size() <= 2 * view.farms.size() + 16) return;
  std::set<std::string> there;
  for (const auto& [key, farm] : view.farms) there.insert(farm->uid);
  std::erase_if(memories_, [&](const auto& memory) { return !there.contains(memory.first); });
}

/// Executors that end by themselves again and again are made again ever later, and their pods do not pile up.
void Reconciler::find_crash_loops(Pass& pass) {
  std::map<std::int32_t, std::vector<std::pair<double, std::size_t>>> finished;  // by farm: when, and which pod
  for (std::size_t i = 0; i < pass.view.pods.size(); ++i) {
    const PodFacts& pod = *pass.view.pods[i].second;
    const std::int32_t farm = pass.owners.farm_of_pod[i];
    if (pod.is_finished && !pod.is_ending && pod.is_made_by_a_farm && farm >= 0) {
      finished[farm].emplace_back(pod.finished_at, i);
    }
  }
  for (const std::int32_t f : pass.scope.farms) {
    const auto found = finished.find(f);
    if (found == finished.end()) continue;
    auto& pods = found->second;
    std::ranges::sort(pods, std::greater<>());
    for (std::size_t i = kKeptFinished; i < pods.size(); ++i) {
      const auto& [key, pod] = pass.view.pods[pods[i].second];
      try {
        parts_.writer.delete_pod(key, pod->uid, 1);
      } catch (const Error& error) {
        parts_.log(error.what());
      }
    }
    const auto is_recent = [&](const auto& pod) { return pod.first > pass.now - kCrashMemorySeconds; };
    const auto n_recent = static_cast<int>(std::ranges::count_if(pods, is_recent));
    if (n_recent == 0) continue;
    const double until = pods.front().first + doubled(kFirstRetrySeconds, n_recent - 1, kLongestRetrySeconds);
    if (until <= pass.now) continue;
    const FarmObject& farm = *pass.view.farms[static_cast<std::size_t>(f)].second;
    pass.scope.blocked.insert(farm.uid);
    pass.blocked_because[farm.uid] = fmt::format(
        "executors ended by themselves, {} of late; others are made in {:.0f} s", n_recent, until - pass.now);
    pass.look_again_at(until);
  }
}

void Reconciler::block_refused(Pass& pass) {
  for (const std::int32_t f : pass.scope.farms) {
    const FarmObject& farm = *pass.view.farms[static_cast<std::size_t>(f)].second;
    const Memory& memory = memory_of(farm.uid);
    const bool holds = !memory.refusal.empty() && memory.refused_generation == farm.generation;
    if (!holds || memory.retry_at <= pass.now) continue;
    pass.scope.blocked.insert(farm.uid);
    pass.blocked_because[farm.uid] = memory.refusal;
    pass.look_again_at(memory.retry_at);
  }
}

void Reconciler::note_refusals(Pass& pass) {
  for (std::size_t f = 0; f < pass.cluster.farms.size(); ++f) {
    const FarmObject& farm = pass.farm(f);
    Memory& memory = memory_of(farm.uid);
    const auto refused = pass.result.refusals.find(static_cast<std::int32_t>(f));
    if (refused != pass.result.refusals.end()) {
      if (memory.refused_generation != farm.generation) memory.n_refusals = 0;
      memory.refused_generation = farm.generation;
      memory.refusal = "the API server makes no pods of it: " + refused->second;
      memory.retry_at = pass.now + doubled(kFirstRetrySeconds, memory.n_refusals++, kLongestRetrySeconds);
      pass.blocked_because[farm.uid] = memory.refusal;
      pass.look_again_at(memory.retry_at);
    } else if (!pass.scope.blocked.contains(farm.uid)) {
      memory.refusal.clear();
      memory.n_refusals = 0;
    }
  }
}

void Reconciler::tell(Pass& pass) {
  const std::vector<std::string> sentences = farm::sentences(pass.cluster.state, pass.decision);
  for (std::size_t f = 0; f < sentences.size(); ++f) {
    try {
      tell_farm(pass, static_cast<std::int32_t>(f), sentences[f]);
    } catch (const kube::ApiError& error) {
      if (!error.is_not_found() && !error.is_conflict() && !error.is_invalid()) throw;
      parts_.log(error.what());  // the farm has gone, or is another of this name
    }
  }
  tell_manager(pass);
}

namespace {

/// What is wrong with a farm, as far as it can be seen: reason and words.
std::pair<std::string, std::string> fault_of(const FarmObject& farm, const std::string& blocked_because,
                                             const std::vector<std::string>& shares_pods_with) {
  if (!farm.fault.empty()) return {"TemplateInvalid", farm.fault};
  if (!blocked_because.empty()) return {"NoPodsAreMade", blocked_because};
  if (shares_pods_with.empty()) return {};
  return {"SelectorsOverlap", fmt::format("pods are selected by {} too; they belong to the first by name",
                                          fmt::join(shares_pods_with, ", "))};
}

Condition managed_condition(const std::string& manager, const std::vector<std::string>& others) {
  if (manager.empty()) {
    return {"Managed", false, "NoManager", "no farm manager selects it: nobody is taken for it, nor it for others"};
  }
  if (others.empty()) return {"Managed", true, "Managed", "by farm manager " + manager};
  return {"Managed", true, "SeveralManagers",
          fmt::format("by farm manager {}, the first by name of those that select it: {} too", manager,
                      fmt::join(others, ", "))};
}

}  // namespace

void Reconciler::tell_farm(Pass& pass, std::int32_t index, const std::string& sentence) {
  const auto f = static_cast<std::size_t>(index);
  const FarmObject& farm = pass.farm(f);
  const ObjectKey& key = pass.farm_key(f);
  Memory& memory = memory_of(farm.uid);
  std::vector<std::string> sharing;
  if (const auto shared = pass.owners.shared_with.find(pass.cluster.farms[f]);
      shared != pass.owners.shared_with.end()) {
    for (const std::int32_t other : shared->second)
      sharing.push_back(pass.view.farms[static_cast<std::size_t>(other)].first.text());
  }
  const std::string blocked = pass.blocked_because.contains(farm.uid) ? pass.blocked_because.at(farm.uid) : "";
  const auto [reason, fault] = fault_of(farm, blocked, sharing);
  const std::string stuck = stuck_pods(pass.view, pass.cluster, pass.policy, index);

  std::optional<std::int32_t> wanted;
  if (farm.has_template() && !farm.is_ending) wanted = std::min(farm.wanted.value_or(0), farm.maximum);
  FarmStatus status =
      counted_status(pass.cluster.state, pass.decision, index, {.wanted = wanted, .guaranteed = farm.guaranteed});
  status.generation = farm.generation;
  status.selector = farm.selector.text();
  status.message = sentence;
  if (!fault.empty()) status.message += "; " + fault;
  if (!stuck.empty()) status.message += "; " + stuck;
  status.conditions.push_back(
      {"Valid", fault.empty(), fault.empty() ? "Valid" : reason, fault.empty() ? "nothing is wrong with it" : fault});
  status.conditions.push_back(
      managed_condition(pass.assignment.manager[pass.in_view(f)], pass.assignment.others[pass.in_view(f)]));
  if (pass.manager == nullptr) status.message += "; no farm manager selects it, so nobody is taken for it";

  const kube::EventRecorder::Type warning = EventRecorder::Type::kWarning;
  const std::string trouble = !stuck.empty() ? "StuckTerminating" : reason;
  if (!trouble.empty() && memory.told != trouble) {
    parts_.events.record({kFarms, key, farm.uid}, warning, trouble, stuck.empty() ? fault : stuck);
  }
  memory.told = trouble;
  note_guarantee(pass, index, status.conditions.front());

  const Json& before = memory.written.is_null() ? *farm.status : memory.written;
  const Json json = json_of(status, before, pass.now);
  if (!tells_more(json, before)) return;
  if (pass.now < memory.written_at + kStatusSeconds) return pass.look_again_at(memory.written_at + kStatusSeconds);
  parts_.writer.write_status(kFarms, key, farm.uid, json);
  memory.written = json;
  memory.written_at = pass.now;
}

void Reconciler::note_guarantee(const Pass& pass, std::int32_t index, const Condition& condition) {
  const auto f = static_cast<std::size_t>(index);
  Memory& memory = memory_of(pass.farm(f).uid);
  if (!condition.holds) {
    if (memory.below_since <= 0) memory.below_since = pass.now;
    memory.had_to_wait |= condition.reason != "Starts";
    return;
  }
  if (memory.below_since <= 0) return;
  const double seconds = pass.now - std::exchange(memory.below_since, 0);
  parts_.metrics.guarantee_met(seconds);
  if (!std::exchange(memory.had_to_wait, false)) return;
  parts_.events.record({kFarms, pass.farm_key(f), pass.farm(f).uid}, EventRecorder::Type::kNormal, "GuaranteeMet",
                       fmt::format("{}, after {:.0f} s", condition.message, seconds));
}

void Reconciler::tell_manager(Pass& pass) {
  ManagerStatus status{.farms = static_cast<std::int64_t>(pass.cluster.farms.size()),
                       .guaranteed_load = pass.decision.guaranteed_load};
  std::int64_t n_missing = 0;
  for (const farm::Outlook& outlook : pass.decision.outlooks) {
    status.executors += outlook.held;
    n_missing += outlook.guarantee.all();
  }
  parts_.metrics.set_farms(pass.key.name, pass.cluster.farms.size(), status.executors, n_missing);
  if (pass.manager == nullptr) return;

  std::vector<std::string> lost;
  std::vector<std::string> contested;
  for (std::size_t f = 0; f < pass.view.farms.size(); ++f) {
    const auto& others = pass.assignment.others[f];
    const std::string name = pass.view.farms[f].first.text();
    if (std::ranges::find(others, pass.key.name) != others.end()) lost.push_back(name);
    if (pass.assignment.manager[f] == pass.key.name && !others.empty()) contested.push_back(name);
  }
  const auto some = [](const std::vector<std::string>& names) {
    return names.size() <= 3 ? fmt::format("{}", fmt::join(names, ", "))
                             : fmt::format("{}, {} and {} others", names[0], names[1], names.size() - 2);
  };
  const bool fits = status.guaranteed_load <= 1;
  status.generation = pass.manager->generation;
  status.message =
      fmt::format("{} of {} farms have what they are guaranteed, or all they want of it",
                  std::ranges::count_if(pass.decision.outlooks,
                                        [](const farm::Outlook& outlook) { return outlook.guarantee.all() == 0; }),
                  status.farms);
  status.conditions.push_back(
      {"GuaranteesFit", fits, fits ? "Fit" : "ExceedCluster",
       fits ? "the guarantees that are asked for have room together"
            : fmt::format(
                  "the guarantees that are asked for are {:.2f} of what there is room for: each counts in proportion",
                  status.guaranteed_load)});
  const bool is_alone = lost.empty() && contested.empty();
  status.conditions.push_back(
      {"SoleManager", is_alone, is_alone ? "Sole" : "SeveralManagers",
       is_alone ? "no other manager selects its farms"
       : lost.empty()
           ? fmt::format("other managers select {} too; this one manages them, as the first by name", some(contested))
           : fmt::format("it selects {} too, which a manager that comes first by name manages", some(lost))});
  for (const Condition& condition : status.conditions) {
    if (!condition.holds) status.message += "; " + condition.message;
  }
  if (!pass.cluster.ignored_resources.empty()) {
    status.message += fmt::format("; more resources are asked for than are counted: {} are not",
                                  fmt::join(pass.cluster.ignored_resources, ", "));
  }

  auto& [written, written_at] = manager_statuses_[pass.manager->uid];
  const Json before = written.is_null() ? *pass.manager->status : written;
  const Json json = json_of(status, before, pass.now);
  if (!tells_more(json, before)) return;
  if (pass.now < written_at + kStatusSeconds) return pass.look_again_at(written_at + kStatusSeconds);
  parts_.writer.write_status(kFarmManagers, pass.key, pass.manager->uid, json);
  written = json;
  written_at = pass.now;
}

void Reconciler::plan_next_look(Pass& pass) {
  for (const farm::Outlook& outlook : pass.decision.outlooks) {
    if (outlook.retry_at > pass.now) pass.look_again_at(outlook.retry_at);
  }
  for (const farm::Pod& pod : pass.cluster.state.pods) {
    if (pod.phase != farm::Phase::kEnding && !pod.is_taken) continue;
    if (pod.deadline > pass.now) pass.look_again_at(pod.deadline);
    const double stuck_at = pod.deadline + pass.policy.stuck_seconds;
    if (stuck_at > pass.now) pass.look_again_at(stuck_at + 0.01);
  }
  if (pass.policy.mode == farm::Mode::kHistoryAware && !pass.cluster.farms.empty()) {
    const double epoch_seconds = pass.policy.half_life_seconds / 8;
    pass.look_again_at((std::floor(pass.now / epoch_seconds) + 1) * epoch_seconds);
  }
  if (pending_.size() > 0) pass.look_again_at(pass.now + kPatienceSeconds);
}

}  // namespace podere::controller
