// Which rows cross-validation holds out together.
#pragma once

#include <cstdint>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/table/table.h"

namespace podere::table {

inline constexpr int kMostFolds = 100;

struct FoldOptions {
  int n_folds = 5;         ///< 2 .. kMostFolds
  std::size_t repeat = 0;  ///< each has folds of its own
  std::uint64_t seed = 0;
  bool by_class = false;  ///< labels are classes 0, 1, 2, ...: each fold gets its share of every one
};

/// The fold that each row here belongs to [n_rows], 0 .. n_folds - 1. Of every n_folds consecutive rows (of a class)
/// each goes to another fold, in an order drawn by hash; so folds differ by one row at most, or one of each class. The
/// same for any number of ranks. Collective: an all_reduce, and an
/// all_gather of a count for each class. Throws InputError, on all ranks,
/// if there are fewer rows than folds, or fewer of a class that has any.
std::vector<std::uint8_t> fold_of_rows(const Table& table, const FoldOptions& options, const comm::Communicator& comm);

}  // namespace podere::table
