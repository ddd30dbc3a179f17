#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "podere/base/hash.h"
#include "podere/farm/trace.h"

namespace podere::farm {
namespace {

constexpr double kDownSeconds = 600;  // of a lost node

enum Stream : std::uint64_t { kFarms, kRequests, kNodes };

double exponential(RandomSequence& random, double mean) { return -mean * std::log1p(-random.uniform()); }

/// A farm's demand: nothing for half of the time, else up to eight times what it is guaranteed.
void add_farm(Trace& trace, const RandomTraceOptions& options, int number, double mean_guaranteed) {
  RandomSequence random(options.seed, kFarms, static_cast<std::uint64_t>(number));
  FarmEvent event;
  event.farm.key = fmt::format("team-{:04}/farm", number);
  event.farm.guaranteed = static_cast<std::int32_t>(std::lround(2 * mean_guaranteed * random.uniform()));
  event.farm.maximum = std::max(4, 8 * event.farm.guaranteed);
  event.farm.min_runtime_seconds = options.min_runtime_seconds;
  event.farm.drain_seconds = options.drain_seconds;
  event.has_template = random.uniform() >= options.adopted;
  constexpr std::array kCores = {1, 2, 4};
  const int cores = options.mixes_shapes ? kCores[random.next() % kCores.size()] : 1;
  event.executor.requests.amounts = {cores * 1000, cores * (std::int64_t{4} << 30)};
  event.farm.guaranteed /= cores;
  const double mean_seconds = 60 * options.change_minutes;
  for (double at = exponential(random, mean_seconds) / 4; at < 3600 * options.hours;
       at += exponential(random, mean_seconds)) {
    const bool rests = random.uniform() < 0.5;
    event.farm.wanted = rests ? 0 : 1 + static_cast<std::int32_t>(8 * random.uniform() * (1 + event.farm.guaranteed));
    trace.events.push_back({std::round(at), event});
  }
}

void add_nodes(Trace& trace, const RandomTraceOptions& options) {
  const Resources slots = {{options.slots * 1000, options.slots * (std::int64_t{4} << 30)}};
  for (int i = 0; i < options.nodes; ++i)
    trace.events.push_back({0, NodeEvent{fmt::format("node-{:04}", i), slots, false}});
  if (options.node_losses <= 0) return;
  RandomSequence random(options.seed, kNodes, 0);
  double at = 0;
  while ((at += std::ceil(exponential(random, 3600 / options.node_losses)) + kDownSeconds) < 3600 * options.hours) {
    const auto node = random.next() % static_cast<std::uint64_t>(options.nodes);
    const std::string name = fmt::format("node-{:04}", node);
    trace.events.push_back({at, NodeEvent{name, {}, true}});
    trace.events.push_back({at + kDownSeconds, NodeEvent{name, slots, false}});
  }
}

}  // namespace

Trace random_trace(const RandomTraceOptions& options) {
  Trace trace;
  trace.resources = {"cpu", "memory"};
  add_nodes(trace, options);
  const double mean_guaranteed = options.guaranteed * options.nodes * options.slots / options.farms;
  for (int i = 0; i < options.farms; ++i) add_farm(trace, options, i, mean_guaranteed);
  std::ranges::stable_sort(trace.events, {}, &TraceEvent::at);
  return trace;
}

}  // namespace podere::farm
