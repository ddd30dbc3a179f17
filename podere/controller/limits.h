// What farms may ask for, as a FarmManager has it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "podere/farm/state.h"
#include "podere/kube/object.h"

namespace podere::controller {

using kube::Json;

/// Of namespaces: a number that is not set is not limited.
struct Ceiling {
  std::string name;
  std::vector<std::string> namespaces;  ///< "course-*": all that begin so. Empty: each that no other names, by itself
  std::optional<std::int32_t> guaranteed = {};  ///< the sum of their farms' guarantees
  std::optional<std::int32_t> maximum = {};     ///< the sum of what these want
  std::optional<double> weight = {};            ///< the sum of the weights of those that want any
  std::optional<double> drain_seconds = {};     ///< of each farm, in place of the manager's
  std::optional<double> min_runtime_seconds = {};
  std::optional<double> priority = {};  ///< of each farm, likewise
};

struct Limits {
  std::string manager = {};    ///< its name; empty: of farms that have none
  double drain_seconds = 300;  ///< of each farm. Executors that drain always hold borrowed room
  double min_runtime_seconds = 3600;
  double priority = 0;
  std::vector<Ceiling> ceilings = {};
};

Limits limits_of(const Json& spec, const std::string& manager);

/// What came of limits, by farm.
struct Limited {
  std::vector<double> drain_seconds;              ///< the longest that its pods may drain
  std::vector<std::vector<std::string>> remarks;  ///< what of it does not count, in sentences
};

/// Cuts the weights, seconds and priorities of farms, and adds the ceilings that several share. The farms of the state
/// are named by their namespaces.
Limited apply_limits(farm::State& state, const Limits& limits);

}  // namespace podere::controller
