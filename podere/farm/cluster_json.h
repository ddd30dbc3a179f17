// Parts of clusters in JSON, of states and of traces: resources, nodes, farms, executors.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "podere/base/json.h"
#include "podere/farm/state.h"

namespace podere::farm {

inline constexpr std::int32_t kMostExecutors = 100000;  // of a farm in a file

/// What an executor of a farm asks for: {"cpu": 2, "memory": 4, "nvidia.com/gpu": 1, "nodes": ["a", "b"]}, with cores,
/// GiB, and names of nodes, if it may not run on all.
struct ExecutorNeeds {
  Resources requests;
  std::vector<std::string> nodes;
};

/// Throws InputError for a member of `json` that is not one of `names`, with the one that may have been meant.
void check_members(const Json& json, std::initializer_list<const char*> names);

/// The amounts in `json`, members of other names left out. Adds names of resources to `resources`, which begins
/// with cpu and memory. Throws InputError, also for too many resources.
Resources read_resources(const Json& json, std::vector<std::string>& resources,
                         std::initializer_list<const char*> other_names);
/// The inverse.
Json resources_json(const Resources& amounts, const std::vector<std::string>& resources);

ExecutorNeeds read_executor(const Json& json, std::vector<std::string>& resources);

/// Changes what of a farm is named: guaranteed, wanted, maximum, weight, priority, gang, min_runtime_seconds,
/// drain_seconds. Throws InputError for numbers that cannot be.
void read_farm_members(const Json& json, Farm& farm);

/// The shape of such executors in a state whose nodes are known, added if it is new. Throws InputError for a node that
/// is not there.
std::int32_t shape_of(const ExecutorNeeds& executor, State& state);

}  // namespace podere::farm
