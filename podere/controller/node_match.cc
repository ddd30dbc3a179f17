#include "podere/controller/node_match.h"

#include <algorithm>

#include "podere/controller/json.h"

namespace podere::controller {
namespace {

std::vector<Requirement> requirements_of(const Json& expressions) {
  std::vector<Requirement> requirements;
  for (const Json& expression : expressions) requirements.push_back(requirement_of(expression));
  return requirements;
}

bool holds(const NodeRules::Term& term, const std::string& name, const NodeFacts& node) {
  if (term.labels.empty() && term.names.empty()) return false;  // an empty term selects nothing
  return std::ranges::all_of(term.labels, [&](const Requirement& r) { return r.holds(node.labels.find(r.key)); }) &&
         std::ranges::all_of(term.names,
                             [&](const Requirement& r) { return r.holds(r.key == "metadata.name" ? &name : nullptr); });
}

std::optional<std::vector<NodeRules::Term>> affinity_of(const Json& spec) {
  const Json& required =
      object_at(spec, {"affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"});
  if (!required.contains("nodeSelectorTerms")) return std::nullopt;
  std::vector<NodeRules::Term> terms;
  for (const Json& term : array_at(required, "nodeSelectorTerms")) {
    terms.push_back(
        {requirements_of(array_at(term, "matchExpressions")), requirements_of(array_at(term, "matchFields"))});
  }
  return terms;
}

}  // namespace

bool Toleration::tolerates(const Taint& taint) const {
  if (!effect.empty() && effect != taint.effect) return false;
  if (!key.empty() && key != taint.key) return false;
  if (key.empty() && !ignores_value) return false;
  return ignores_value || value == taint.value;
}

bool NodeRules::allow(const std::string& name, const NodeFacts& node) const {
  const bool is_selected =
      std::ranges::all_of(selector, [&](const Requirement& r) { return r.holds(node.labels.find(r.key)); });
  const bool is_affine =
      !affinity || std::ranges::any_of(*affinity, [&](const Term& term) { return holds(term, name, node); });
  return is_selected && is_affine && std::ranges::all_of(node.taints, [&](const Taint& taint) {
           return std::ranges::any_of(tolerations, [&](const Toleration& t) { return t.tolerates(taint); });
         });
}

NodeRules node_rules_of(const Json& spec) {
  NodeRules rules{.affinity = affinity_of(spec)};
  for (const auto& [key, value] : object_at(spec, {"nodeSelector"}).items()) {
    rules.selector.push_back({key, Requirement::Operator::kIn, {value.is_string() ? value.get<std::string>() : ""}});
  }
  for (const Json& toleration : array_at(spec, "tolerations")) {
    const auto text = [&](const char* name) { return std::string(kube::text_at(toleration, {name})); };
    rules.tolerations.push_back({text("key"), text("value"), text("effect"), text("operator") == "Exists"});
  }
  return rules;
}

}  // namespace podere::controller
