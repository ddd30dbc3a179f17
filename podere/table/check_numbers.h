// Checks for algorithms that calculate with the values themselves.
#pragma once

#include <span>
#include <string>

#include "podere/comm/communicator.h"
#include "podere/table/table.h"

namespace podere::table {

/// Throws InputError for features that are categories, and where there are no features: "{what} takes numbers, ...".
void check_features_are_numbers(const Schema& schema, const std::string& what);

/// Throws InputError, on all ranks, for the first row with a missing or an infinite value, by row and column: "... and
/// {need} numbers", where `need` is such as "distances need". `columns` are of rows from `first` on. Collective.
void check_complete(std::span<const std::span<const float>> columns, std::span<const std::string> names,
                    GlobalRow first, const std::string& need, const comm::Communicator& comm, int n_threads);

/// Throws InputError, on all ranks, for weights that are negative or not finite, by the first such row, and where all
/// are 0. Collective.
void check_weights(const Table& table, const comm::Communicator& comm, int n_threads);

}  // namespace podere::table
