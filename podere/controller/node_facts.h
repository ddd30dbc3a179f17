// What is kept of a node.
#pragma once

#include <string>
#include <vector>

#include "podere/controller/labels.h"
#include "podere/controller/quantity.h"

namespace podere::controller {

/// What keeps pods off a node unless they tolerate it.
struct Taint {
  std::string key;
  std::string value;
  std::string effect;

  bool operator==(const Taint&) const = default;
};

struct NodeFacts {
  Labels labels = {};
  std::vector<Taint> taints = {};  ///< that forbid pods; those that are only to be avoided are left out
  Amounts allocatable = {};
  bool is_schedulable = false;  ///< it is ready, and not cordoned

  bool operator==(const NodeFacts&) const = default;
};

/// Throws Error for what is no node.
NodeFacts node_facts_of(const Json& node);

}  // namespace podere::controller
