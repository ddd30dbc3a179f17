// Rows whose label is missing, to be left out while rows are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "podere/comm/communicator.h"
#include "podere/table/row_source.h"
#include "podere/table/table.h"

namespace podere::io {

/// Leaves the rows of `table` without a label out, as keep_rows does; `n_left_out` is how many they are. `name`: of its
/// source. Collective. Throws InputError, on all ranks, if there is no label column, or no row has a label.
void drop_unlabeled(const std::string& name, const comm::Communicator& comm, int n_threads, table::Table& table,
                    std::uint64_t& n_left_out);

/// The same of rows that are read again each time they are needed: of `all` that `read` reads, for any range of them.
/// Memory: as ReadRows, another window, and 16 bytes for 64 rows of the source. Collective; throws as drop_unlabeled.
std::unique_ptr<table::RowSource> open_labeled(const std::string& name, std::unique_ptr<table::RowSource> all,
                                               const table::ReadRows::Fill& read, const comm::Communicator& comm,
                                               std::size_t window_bytes, std::uint64_t& n_left_out);

}  // namespace podere::io
