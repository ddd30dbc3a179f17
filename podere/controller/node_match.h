// On which nodes a pod may run, as the scheduler's NodeAffinity and TaintToleration filters have it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "podere/controller/node_facts.h"

namespace podere::controller {

struct Toleration {
  std::string key = {};  ///< empty: any
  std::string value = {};
  std::string effect = {};  ///< empty: any
  bool ignores_value = false;

  bool operator==(const Toleration&) const = default;
  bool tolerates(const Taint& taint) const;
};

/// A pod's nodeSelector, required node affinity and tolerations. Other reasons of the scheduler (affinity to pods,
/// spread, volumes, ports of the host) are not looked at.
struct NodeRules {
  /// All of its requirements must hold, of which there must be one.
  struct Term {
    std::vector<Requirement> labels = {};
    std::vector<Requirement> names = {};  ///< matchFields: of the node's name
    bool operator==(const Term&) const = default;
  };

  std::vector<Requirement> selector = {};
  std::optional<std::vector<Term>> affinity = {};  ///< one of these terms must hold
  std::vector<Toleration> tolerations = {};

  bool operator==(const NodeRules&) const = default;
  bool allow(const std::string& name, const NodeFacts& node) const;
};

/// Of a pod's spec, or a template's. Throws Error for operators that are none.
NodeRules node_rules_of(const Json& spec);

}  // namespace podere::controller
