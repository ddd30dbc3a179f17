// Tables of some of another table's rows.
#pragma once

#include <cstdint>
#include <span>

#include "podere/comm/communicator.h"
#include "podere/table/table.h"

namespace podere::table {

/// The rows of `table` whose `kept` [n_rows] is not 0, in their order, numbered anew from 0 without gaps. Each rank
/// receives its rows_of() them, which are the same for any number of ranks and threads. There may be none.
///
///             rank 0          rank 1          rank 2
///     held    a b c d e f     g h i           j k l m
///     kept    a     d         g h i           j k l m
///     result  a d g h         i j k           l m
///
/// With `n_holders`, the first so many ranks receive them all, as if there were no others; 0: all ranks.
///
/// Collective: an all_gather of 8 bytes, then columns by all_to_all_v, several at once where they are small. `table`
/// must have all its rows, in rank order. Memory: the result and, beyond it, two columns or 16 MiB. Throws InputError
/// on all ranks if `kept` of one has another size than its rows.
Table keep_rows(const Table& table, std::span<const std::uint8_t> kept, const comm::Communicator& comm, int n_threads,
                int n_holders = 0);

}  // namespace podere::table
