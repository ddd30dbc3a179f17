// What the algorithms that find clusters check and report alike.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "podere/algorithm/algorithm.h"
#include "podere/cluster/scaled_rows.h"

namespace podere::cluster {

inline constexpr int kMostIterations = 1'000'000;
inline constexpr int kMostRestarts = 10'000;

/// Throws InputError, "{name} is {value}, allowed is {least} to {most}".
void check_range(const std::string& name, int value, int least, int most);
/// The same for a finite number from 0.
void check_share(const std::string& name, double value);

/// Throws InputError for more clusters than rows.
void check_row_count(const std::string& name, int n_clusters, std::uint64_t n_rows);

/// Warns of features beside which others hardly count.
void warn_of_widths(const table::Schema& schema, const Spread& spread, const algorithm::Run& run);

/// What find(start) finds from one of the starts: the first of the best, by their `loss`, or that in which the user
/// stopped, where the best before is kept if it is better. Collective.
template <typename Find>
auto best_of_starts(int n_starts, Find&& find) {
  auto best = find(0);
  for (int start = 1; start < n_starts && !best.was_stopped; ++start) {
    auto found = find(start);
    const bool was_stopped = found.was_stopped;
    if (found.loss < best.loss) best = std::move(found);
    best.was_stopped = was_stopped;
  }
  return best;
}

/// Over all ranks; 1 without weights. Collective.
double largest_weight(const table::Table& table, const comm::Communicator& comm);

/// Whether the user has asked to stop, as rank 0 knows it. Collective.
bool is_stopped(const algorithm::Run& run);

}  // namespace podere::cluster
