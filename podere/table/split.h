// Two tables out of one, such as rows to train on and rows to test.
#pragma once

#include <cstdint>
#include <utility>

#include "podere/comm/communicator.h"
#include "podere/table/table.h"

namespace podere::table {

/// Shares the rows of `table` out: each goes to the first part with probability `fraction`, else to the second, as a
/// hash of (seed, global row number) decides. Both parts keep the order of the rows, and each rank receives its
/// rows_of() each of them; the same seed gives the same parts on any number of ranks and threads.
///
/// The first part's share is near `fraction`, not exactly it: of n rows it holds n * fraction, give or take
/// sqrt(n * fraction * (1 - fraction)). A small table may leave one part empty.
///
/// Collective, as keep_rows, twice. Throws InputError, on all ranks, unless 0 < fraction < 1.
std::pair<Table, Table> split(const Table& table, double fraction, std::uint64_t seed, const comm::Communicator& comm,
                              int n_threads);

}  // namespace podere::table
