#include "podere/controller/pod_needs.h"

#include <algorithm>

#include "podere/controller/json.h"

namespace podere::controller {
namespace {

Amounts limits_of_container(const Json& container) { return amounts_of(object_at(container, {"resources", "limits"})); }

Amounts requests_of_container(const Json& container) {
  Amounts requests = amounts_of(object_at(container, {"resources", "requests"}));
  requests.merge(limits_of_container(container));  // adds those that are not there
  return requests;
}

void add(Amounts& sum, const Amounts& amounts) {
  for (const auto& [name, amount] : amounts) sum[name] = std::min(sum[name] + amount, kMostOfAResource);
}

void raise(Amounts& most, const Amounts& amounts) {
  for (const auto& [name, amount] : amounts) most[name] = std::max(most[name], amount);
}

std::size_t hash_of(const Amounts& amounts) {
  std::size_t hash = 0;
  for (const auto& [name, amount] : amounts) {
    hash = 31 * (31 * hash + std::hash<std::string>()(name)) + std::hash<std::int64_t>()(amount);
  }
  return hash;
}

/// Of containers together, or of init containers at a time if that is more.
template <typename OfContainer>
Amounts total(const Json& pod_spec, const OfContainer& of_container) {
  Amounts running;
  for (const Json& container : array_at(pod_spec, "containers")) add(running, of_container(container));
  Amounts sidecars;
  Amounts starting;  // the most that init containers need, with the sidecars that run by then
  for (const Json& container : array_at(pod_spec, "initContainers")) {
    const Amounts own = of_container(container);
    if (kube::text_at(container, {"restartPolicy"}) == "Always") {
      add(sidecars, own);
      raise(starting, sidecars);
      continue;
    }
    Amounts with_sidecars = sidecars;
    add(with_sidecars, own);
    raise(starting, with_sidecars);
  }
  add(running, sidecars);
  raise(running, starting);
  for (const auto& [name, amount] : of_container(pod_spec)) running[name] = amount;  // of the pod as a whole
  return running;
}

}  // namespace

Amounts requests_of(const Json& pod_spec) {
  Amounts requests = total(pod_spec, requests_of_container);
  add(requests, amounts_of(object_at(pod_spec, {"overhead"})));
  requests["pods"] = 1;
  return requests;
}

Amounts pod_limits_of(const Json& pod_spec) {
  Amounts limits = total(pod_spec, limits_of_container);
  for (const auto& [name, amount] : amounts_of(object_at(pod_spec, {"overhead"}))) {
    if (limits.contains(name)) add(limits, {{name, amount}});
  }
  return limits;
}

PodNeeds pod_needs_of(const Json& pod_spec) { return {requests_of(pod_spec), node_rules_of(pod_spec)}; }

std::shared_ptr<const PodNeeds> NeedsTable::share(PodNeeds needs) {
  const std::scoped_lock lock(mutex_);
  const std::size_t hash = hash_of(needs.requests);
  const auto [first, last] = all_.equal_range(hash);
  for (auto kept = first; kept != last; ++kept) {
    if (*kept->second == needs) return kept->second;
  }
  if (all_.size() >= forget_at_) {
    std::erase_if(all_, [](const auto& kept) { return kept.second.use_count() == 1; });
    forget_at_ = std::max<std::size_t>(64, 2 * all_.size());
  }
  return all_.emplace(hash, std::make_shared<const PodNeeds>(std::move(needs)))->second;
}

}  // namespace podere::controller
