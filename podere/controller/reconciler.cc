#include "podere/controller/reconciler.h"

#include <fmt/format.h>

#include <algorithm>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/controller/json.h"
#include "podere/farm/history.h"

namespace podere::controller {
namespace {

using kube::ObjectKey;

constexpr double kPatienceSeconds = 10;  // with a watch that does not show what was written

/// Calls `on_change` for objects that come, go, or change in what counts.
template <typename Kept, typename IsSame>
std::function<void(const typename kube::Store<Kept>::Change&)> if_changed(const std::function<void()>& on_change,
                                                                          IsSame is_same) {
  return [on_change, is_same](const auto& change) {
    if (!change.before || !change.after || !is_same(*change.before, *change.after)) on_change();
  };
}

constexpr auto kIsEqual = [](const auto& a, const auto& b) { return a == b; };
constexpr auto kAsksTheSame = [](const auto& a, const auto& b) { return a.asks_the_same(b); };

bool is_there(const Stores& stores, const StatusSubject& subject) {
  const auto is_it = [&](const auto& object) { return object != nullptr && object->uid == subject.uid; };
  return subject.resource.kind == kFarms.kind ? is_it(stores.farms.get(subject.key))
                                              : is_it(stores.managers.get(subject.key));
}

}  // namespace

Stores::Stores(NeedsTable& needs, const std::function<void()>& on_change, std::vector<std::string> namespaces)
    : pods([&needs](const Json& pod) { return pod_facts_of(pod, needs); }, if_changed<PodFacts>(on_change, kIsEqual)),
      nodes(node_facts_of, if_changed<NodeFacts>(on_change, kIsEqual)),
      farms([&needs](const Json& farm) { return farm_object_of(farm, needs); },
            if_changed<FarmObject>(on_change, kAsksTheSame)),
      managers(manager_object_of, if_changed<ManagerObject>(on_change, kAsksTheSame)),
      quotas(quota_facts_of, if_changed<QuotaFacts>(on_change, kIsEqual)),
      namespaces_(std::move(namespaces)) {}

bool Stores::is_looked_after(const std::string& in_namespace) const {
  return namespaces_.empty() || std::ranges::find(namespaces_, in_namespace) != namespaces_.end();
}

Objects<FarmObject> Stores::own_farms() const {
  Objects<FarmObject> own = farms.all();
  std::erase_if(own, [this](const auto& farm) { return !is_looked_after(farm.first.in_namespace); });
  return own;
}

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

Reconciler::Reconciler(Parts parts, const ActionOptions& actions)
    : parts_(std::move(parts)),
      actions_(parts_.writer, pending_, parts_.needs, parts_.events, parts_.metrics, actions),
      back_off_(parts_.writer, parts_.log),
      keys_(parts_.writer, parts_.log),
      statuses_(
          parts_.writer, [&stores = parts_.stores](const StatusSubject& subject) { return is_there(stores, subject); },
          parts_.log),
      reporter_(statuses_, parts_.events, parts_.metrics) {}

std::vector<ObjectKey> Reconciler::keys() const {
  std::vector<ObjectKey> keys = {kNoManager};
  for (const auto& [key, manager] : parts_.stores.managers.all()) keys.push_back(key);
  return keys;
}

double Reconciler::reconcile(const ObjectKey& key) {
  const auto manager = parts_.stores.managers.get(key);
  const double now = seconds_now();
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
  if (manager == nullptr && pass.scope.farms.empty()) {  // it was deleted, or there is no farm without a manager
    histories_.erase(key);
    parts_.metrics.set_farms(key.name, 0, 0, 0);
    return kNever;
  }
  pass.scope.has_guarantees = manager != nullptr;
  if (manager != nullptr) pass.scope.limits = manager->limits;
  back_off_.find(pass, by_namespace(parts_.stores.quotas.all()));
  keys_.prepare(pass);
  decide(pass);
  heed_quotas(pass);
  pass.result = actions_.carry_out({pass.view, pass.cluster, pass.decision, pass.refused_before});
  log_deeds(pass);
  back_off_.note_refusals(pass);
  if (!pass.result.refusals.empty()) decide_without_refused(pass);
  reporter_.report(pass);
  plan_next_look(pass);
  histories_[key].remember(std::move(pass.cluster.state));
  if (!pass.result.failures.empty()) {
    throw_error("{} writes failed, such as: {}", pass.result.failures.size(), pass.result.failures.front());
  }
  return pass.next_look - now;
}

void Reconciler::settle_doubts(double now) {
  for (const ObjectKey& key : pending_.in_doubt(now, kPatienceSeconds)) {
    const auto pod = parts_.client.find(kube::kPods, key);
    pending_.settle(key, pod ? std::make_shared<const PodFacts>(pod_facts_of(*pod, parts_.needs)) : nullptr, now);
  }
}

ClusterView Reconciler::look() {
  Objects<PodFacts> pods = pending_.overlay(parts_.stores.pods.all());
  return {std::move(pods), parts_.stores.nodes.all(), parts_.stores.own_farms()};
}

void Reconciler::decide(Pass& pass) {
  pass.cluster = cluster_state(pass.view, pass.owners, pass.scope, pass.now);
  farm::check(pass.cluster.state);
  histories_[pass.key].advance(pass.cluster.state, pass.policy,
                               [&](std::size_t farm) { return history_of(*pass.farm(farm).status); });
  const Stopwatch since_start;
  pass.decision = farm::decide(pass.cluster.state, pass.policy);
  parts_.metrics.decided(since_start.seconds());
}

void Reconciler::heed_quotas(Pass& pass) {
  if (parts_.stores.quotas.size() == 0) return;
  controller::heed_quotas(pass, by_namespace(parts_.stores.quotas.all()),
                          [this](const std::string& in_namespace) { return read_quotas(in_namespace); });
}

Objects<QuotaFacts> Reconciler::read_quotas(const std::string& in_namespace) {
  Objects<QuotaFacts> quotas;
  try {
    for (const Json& quota : parts_.client.list(kube::kResourceQuotas, {.in_namespace = in_namespace})) {
      quotas.emplace_back(kube::key_of(quota), std::make_shared<const QuotaFacts>(quota_facts_of(quota)));
    }
  } catch (const kube::ApiError& error) {
    if (!error.is_forbidden()) throw;
    parts_.log(fmt::format("quotas of namespace {}: {}", in_namespace, error.what()));  // the dry run is left
    quotas.clear();
  }
  return quotas;
}

/// What was to be freed for farms whose pods the API server refuses was not: statuses are of what is decided without
/// them, which the next pass carries out at once.
void Reconciler::decide_without_refused(Pass& pass) {
  for (const auto& [farm, why] : pass.result.refusals) hold_demand(pass.cluster.state, farm);
  pass.decision = farm::decide(pass.cluster.state, pass.policy);
  pass.look_again_at(pass.now);
}

void Reconciler::log_deeds(const Pass& pass) const {
  if (pass.result.n_written == 0) return;
  parts_.log(fmt::format("{}: creates {}, reclaims {}, removes {} executors; {} writes failed", in_words(pass.key),
                         pass.decision.creations.size(), pass.decision.reclaims.size(), pass.decision.removals.size(),
                         pass.result.failures.size()));
}

void Reconciler::plan_next_look(Pass& pass) const {
  for (const farm::Outlook& outlook : pass.decision.outlooks) {
    if (outlook.retry_at > pass.now) pass.look_again_at(outlook.retry_at);
  }
  for (const farm::Pod& pod : pass.cluster.state.pods) {
    if (pod.phase != farm::Phase::kEnding && !pod.is_reclaimed) continue;
    if (pod.deadline > pass.now) pass.look_again_at(pod.deadline);
    const double stuck_at = pod.deadline + pass.policy.stuck_seconds;
    if (stuck_at > pass.now) pass.look_again_at(stuck_at + 0.01);
  }
  if (pass.policy.mode == farm::Mode::kHistoryAware) pass.look_again_at(farm::next_epoch(pass.now, pass.policy));
  if (pending_.size() > 0) pass.look_again_at(pass.now + kPatienceSeconds);
}

}  // namespace podere::controller
