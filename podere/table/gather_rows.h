// Tables that every executor holds whole.
#pragma once

#include "podere/comm/communicator.h"
#include "podere/table/table.h"

namespace podere::table {

/// All rows of `table`, on every rank. `table` must have all its rows, in rank order. Collective: an all_gather
/// of 8 bytes, and of each column. Memory: the result and a column.
Table gather_rows(const Table& table, const comm::Communicator& comm);

}  // namespace podere::table
