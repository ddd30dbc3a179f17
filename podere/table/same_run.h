// Whether a checkpoint is of the run that resumes from it.
#pragma once

#include <cstdint>
#include <string>

#include "podere/comm/communicator.h"
#include "podere/table/table.h"

namespace podere::table {

/// How the columns that two runs were trained on differ, such as "the data had 28 features, have 27"; empty if they are
/// alike.
std::string first_difference(const Schema& was, const Schema& is);

/// Fingerprint of the rows that a run trains on.
struct DataFingerprint {
  std::uint64_t n_rows = 0;
  std::uint64_t hash = 0;  ///< of labels and weights with the numbers of their rows, below 2^53
  bool operator==(const DataFingerprint&) const = default;
};

/// Of all rows of a table with labels, the same on any number of ranks. Collective.
DataFingerprint fingerprint_rows(const Table& table, const comm::Communicator& comm);

/// "the data had 12 rows, have 11", or that labels or weights are others; empty if they are alike.
std::string first_difference(const DataFingerprint& was, const DataFingerprint& is);

/// Throws InputError that names `difference`, what the run that left the checkpoint had otherwise, and what to do,
/// unless it is empty.
void check_same_run(const std::string& difference);

}  // namespace podere::table
