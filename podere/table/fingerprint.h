// One number that changes with the values of a table.
#pragma once

#include <cstdint>

#include "podere/comm/communicator.h"
#include "podere/table/table.h"

namespace podere::table {

/// A hash of all values, by bits and place: the same on every rank, for any number of ranks and threads. One value that
/// changes in a row block always changes it; several, but for a chance of about 2^-32. No protection against those who
/// choose values to deceive. Each rank must hold its rows_of() the table. Collective: one all_reduce of 8 bytes.
std::uint64_t fingerprint(const Table& table, const comm::Communicator& comm, int n_threads);

}  // namespace podere::table
