// How fast farms are decided on: farm_bench [--farms N] [--pods N] [--nodes N] [--shapes N] [--seconds S]
// A full cluster in which every twentieth farm waits for some of its guarantee, every farm has its borrowing executors,
// and some pods end. Each decision begins from nothing. Checks that a decision takes exactly what is missing. Prints
// one line of JSON for each mode. Seconds are of the processor.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>

#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/farm/explain.h"
#include "podere/farm/policy.h"

namespace {

using namespace podere::farm;

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Size {
  int farms = 1000;
  int pods = 50000;
  int nodes = 2000;
  int shapes = 1;
  double seconds = 3;
};

State full_cluster(const Size& size) {
  podere::RandomSequence random(2019, 0, 0);
  State state{.now = 100000, .resources = {"cpu", "memory", "pods"}, .node_sets = {NodeSet::all()}};
  const std::int64_t slots = size.pods / size.nodes;
  for (int i = 0; i < size.shapes; ++i) {  // alike, but not known to be
    state.shapes.push_back({{{2000, std::int64_t{4} << 30, 1}}, 0});
  }
  for (int i = 0; i < size.nodes; ++i) {
    state.nodes.push_back({.name = fmt::format("node-{:05}", i),
                           .allocatable = {{slots * 2000 + 500, slots * (std::int64_t{4} << 30) + 1000, 110}},
                           .used_by_others = {{500, 1000, 5}}});
  }
  const int wanted = size.pods / size.farms;
  for (int i = 0; i < size.farms; ++i) {
    state.farms.push_back({.key = fmt::format("team-{:04}/farm", i),
                           .guaranteed = wanted / 2,
                           .wanted = 4 * wanted,
                           .maximum = 4 * wanted,
                           .min_runtime_seconds = 60,
                           .drain_seconds = 60,
                           .template_shape = i % size.shapes,
                           .history = {}});
  }
  const std::int64_t n_slots = slots * size.nodes;
  for (std::int64_t i = 0; i < n_slots; ++i) {
    auto farm = static_cast<std::int32_t>(random.next() % static_cast<std::uint64_t>(size.farms));
    if (farm % 20 == 0 && i % 4 != 0) ++farm;  // these have less than they are guaranteed
    state.pods.push_back({.uid = fmt::format("{:016x}-{:06}", random.next(), i),
                          .farm = farm,
                          .node = static_cast<std::int32_t>(i % size.nodes),
                          .shape = farm % size.shapes,
                          .phase = i % 500 == 0 ? Phase::kEnding : Phase::kReady,
                          .created = 1000 + static_cast<double>(random.next() % 90000),
                          .ready_since = 1000 + static_cast<double>(random.next() % 90000),
                          .checkpointed = 90000 + static_cast<double>(random.next() % 10000),
                          .deadline = 100030});
  }
  return state;
}

std::size_t n_missing(const State& state, const Decision& decision) {
  std::size_t missing = 0;
  for (const Outlook& outlook : decision.outlooks) missing += static_cast<std::size_t>(outlook.guarantee.all());
  return missing - static_cast<std::size_t>(std::ranges::count(state.pods, Phase::kEnding, &Pod::phase));
}

int run(const Size& size) {
  const State state = full_cluster(size);
  check(state);
  for (const auto& [name, mode] : {std::pair("proportional", Mode::kProportional), {"fair-share", Mode::kFairShare}}) {
    const Policy policy{.mode = mode};
    const Decision decision = decide(state, policy);
    const auto n_reclaimed =
        static_cast<std::size_t>(std::ranges::count_if(decision.reclaims, &Reclaim::for_guarantee));
    const bool is_right = n_reclaimed == n_missing(state, decision);
    int n_decisions = 0;
    const double start = processor_seconds();
    for (; processor_seconds() - start < size.seconds; ++n_decisions) {
      if (decide(state, policy).reclaims.size() != decision.reclaims.size()) return 1;
    }
    const double seconds = processor_seconds() - start;
    const auto words = sentences(state, decision);
    const double words_seconds = processor_seconds() - start - seconds;
    fmt::print(
        "{{\"bench\": \"farm\", \"mode\": \"{}\", \"farms\": {}, \"pods\": {}, \"nodes\": {}, \"shapes\": {}, "
        "\"reclaimed\": {}, "
        "\"is_right\": {}, \"decisions_per_second\": {:.0f}, \"milliseconds\": {:.3f}, \"sentences_milliseconds\": "
        "{:.3f}}}\n",
        name, size.farms, state.pods.size(), size.nodes, size.shapes, decision.reclaims.size(), is_right,
        n_decisions / seconds, 1e3 * seconds / n_decisions, 1e3 * words_seconds);
    if (!is_right) return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Size size;
  CLI::App app("Decides on farms.");
  app.add_option("--farms", size.farms);
  app.add_option("--pods", size.pods);
  app.add_option("--nodes", size.nodes);
  app.add_option("--shapes", size.shapes, "Shapes of executors");
  app.add_option("--seconds", size.seconds, "to measure each mode");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(size);
  } catch (const podere::Error& error) {
    fmt::print(stderr, "farm_bench: {}\n", error.what());
    return 2;
  }
}
