// What happens to a cluster over time, to be simulated: a text of JSON lines, described in docs/farms.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "podere/farm/cluster_json.h"

namespace podere::farm {

/// A node comes, changes or goes.
struct NodeEvent {
  std::string name;
  Resources allocatable;
  bool is_gone = false;
};

/// A farm comes, changes or goes. Each event says all of the farm.
struct FarmEvent {
  Farm farm;
  ExecutorNeeds executor;
  bool has_template = true;  ///< else others make its pods
  bool is_gone = false;
};

struct TraceEvent {
  double at;  ///< seconds
  std::variant<NodeEvent, FarmEvent> what;
};

/// How the cluster behaves. All times are seconds.
struct ClusterModel {
  double schedule_seconds = 1;     ///< from when a pod waits, or room is free, to when the scheduler looks
  double start_seconds = 20;       ///< from when an executor has a node to when it is ready, in the mean
  double checkpoint_seconds = 60;  ///< between checkpoints of an executor
  double decide_seconds = 1;       ///< from a change to the decision
  double end_seconds = 5;          ///< from when a pod is deleted to when it is gone
  double until = 0;                ///< end of the simulation; 0: an hour after the last event
};

struct Trace {
  ClusterModel model;
  std::vector<std::string> resources;
  std::vector<TraceEvent> events;  ///< by time
};

/// Throws InputError that begins with `name` and the line.
Trace parse_trace(std::string_view text, const std::string& name);
std::string trace_text(const Trace& trace);

/// What a random trace is like.
struct RandomTraceOptions {
  int farms = 100;
  int nodes = 50;
  int slots = 25;  ///< executors that a node has room for
  double hours = 2;
  double change_minutes = 20;  ///< between changes of what a farm wants, in the mean
  double guaranteed = 0.6;     ///< fraction of all slots that is guaranteed
  double adopted = 0;          ///< fraction of the farms whose pods others make
  double node_losses = 1;      ///< per hour
  double min_runtime_seconds = 60;
  double drain_seconds = 60;
  bool mixes_shapes = false;  ///< executors of one, two and four cores
  std::uint64_t seed = 1;
};

/// Users come, want more and less than they are guaranteed, and rest: half of them at a time. The same for the same
/// options.
Trace random_trace(const RandomTraceOptions& options);

}  // namespace podere::farm
