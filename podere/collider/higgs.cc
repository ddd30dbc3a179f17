#include "podere/collider/higgs.h"

#include <algorithm>

#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/base/parallel.h"
#include "podere/collider/detector.h"
#include "podere/collider/features.h"
#include "podere/collider/process.h"

namespace podere::collider {
namespace {

constexpr std::uint64_t kStream = 0x6869676773;  // keeps the random numbers of events apart from others'
constexpr double kSignalShare = 0.53;            // as in the UCI set

}  // namespace

Event generate_event(std::uint64_t seed, std::uint64_t index) {
  RandomSequence random(seed, kStream, index);
  const bool is_signal = random.uniform() < kSignalShare;
  while (true) {
    const Collision collision = is_signal ? draw_signal(random) : draw_background(random);
    const auto seen = observe(random, collision);
    if (!seen) continue;
    const auto values = reconstruct(random, *seen);
    Event event{is_signal ? 1.0f : 0.0f, {}};
    for (std::size_t j = 0; j < kFeatures; ++j) event.features[j] = static_cast<float>(values[j] / kFeatureUnits[j]);
    return event;
  }
}

table::Schema higgs_schema() {
  return {.features = {kFeatureNames.begin(), kFeatureNames.end()}, .label = "label", .weight = {}};
}

namespace {

/// Row i of all is event `first` + i.
void fill(table::Table& table, std::uint64_t seed, std::uint64_t first, int n_threads) {
  const std::uint64_t first_here = first + table.rows().begin;
  constexpr std::size_t kGrain = 256;
  parallel_for_slices(n_threads, table.n_rows(), kGrain, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t i = begin; i < end; ++i) {
      const Event event = generate_event(seed, first_here + i);
      table.label()[i] = event.label;
      for (std::size_t j = 0; j < kFeatures; ++j) table.feature(j)[i] = event.features[j];
    }
  });
}

void check_range(std::uint64_t first, std::uint64_t last) {
  if (first > last) throw_input_error("events from {} to {}: the first must not be after the last", first, last);
}

}  // namespace

table::Table generate_table(std::uint64_t seed, std::uint64_t first, std::uint64_t last, const comm::Communicator& comm,
                            int n_threads) {
  check_range(first, last);
  table::Table table(higgs_schema(), last - first, table::rows_of(last - first, comm.rank(), comm.size()));
  fill(table, seed, first, n_threads);
  return table;
}

table::ReadRows generate_rows(std::uint64_t seed, std::uint64_t first, std::uint64_t last,
                              const comm::Communicator& comm, int n_threads, std::size_t window_bytes) {
  check_range(first, last);
  const auto make = [=](table::Table& window) { fill(window, seed, first, n_threads); };
  return {higgs_schema(), last - first, table::rows_of(last - first, comm.rank(), comm.size()), make, window_bytes};
}

}  // namespace podere::collider
