// Whether ranks have opened the same file.
#pragma once

#include "podere/columns/column_file.h"
#include "podere/comm/communicator.h"

namespace podere::columns {

/// Throws InputError, on all ranks, where columns or groups of rows of one are not those of rank 0. Collective.
void check_same(const ColumnFile& file, const comm::Communicator& comm);

}  // namespace podere::columns
