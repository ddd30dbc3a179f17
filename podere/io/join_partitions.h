// A table of partitions that arrived at any executors.
#pragma once

#include <cstdint>
#include <span>

#include "podere/comm/communicator.h"
#include "podere/io/row_inlet.h"
#include "podere/table/table.h"

namespace podere::io {

/// The rows of all partitions, in the order of their numbers; each rank receives its rows_of() the table. Partition p,
/// of `n_rows[p]` rows, must be at rank p % size; one without rows may be absent. `n_rows` is the same on all ranks.
/// Memory: the table; the rows that arrived are released as they are moved, in large pieces. Collective: an
/// all_to_all_v of each few columns, in which rows that stay where they are do not take part. Throws InputError, on all
/// ranks, that names the partitions which lack or are of another length.
table::Table join_partitions(const table::Schema& schema, Partitions partitions, std::span<const std::uint64_t> n_rows,
                             const comm::Communicator& comm, int n_threads);

}  // namespace podere::io
