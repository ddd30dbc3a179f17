// Folds that follow the values of a column: groups that are held out together, and runs in the order of time.
#pragma once

#include <cstdint>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/table/folds.h"
#include "podere/table/table.h"

namespace podere::table {

/// Both functions below: `column` has one feature, and the rows of `table`, whose labels are classes if
/// options.by_class. The same for any number of ranks. Collective: two all_gather_v of 8 bytes for each value and class
/// that a rank has, so at most 16 bytes for each row of the table to every rank, which holds them. Throw InputError, on
/// all ranks, for values that are missing, and where a model would be trained without rows of some class.
struct ValueFolds {
  std::vector<std::uint8_t> of_rows;  ///< [n_rows]
  std::uint64_t n_values = 0;         ///< different ones in the whole column
};

/// The fold of each row, 0 .. n_folds - 1: rows with the same value are in the same. The largest groups are dealt
/// first, in an order drawn by hash among those that are equally large, each to the fold where the rows of its classes
/// are fewest: for group g with n_gc rows of class c, of which there are n_c in all and n_fc in fold f so far, that
/// with the least sum over c of n_fc n_gc / n_c^2; of several that with the fewest rows, then the first. So the sum of
/// squares of all n_fc / n_c rises by as little as it can. Throws as above, and where there are fewer groups than
/// folds.
ValueFolds folds_of_groups(const Table& column, const Table& table, const FoldOptions& options,
                           const comm::Communicator& comm);

/// The run of each row, 0 .. n_folds, by rising value: rows with the same value are in the same, that in which the
/// middle of them would be if all runs were equally long. Fold k (from 0) is to be trained on runs 0 .. k and measured
/// on run k + 1. Throws as above, for categories, and where a run would be empty.
ValueFolds runs_in_order(const Table& column, const Table& table, const FoldOptions& options,
                         const comm::Communicator& comm);

}  // namespace podere::table
