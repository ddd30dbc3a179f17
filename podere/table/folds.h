// Which rows cross-validation holds out together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/table/table.h"

namespace podere::table {

inline constexpr int kMostFolds = 100;

struct FoldOptions {
  int n_folds = 5;         ///< 2 .. kMostFolds
  std::size_t repeat = 0;  ///< each has folds of its own
  std::uint64_t seed = 0;
  bool by_class = false;       ///< labels are classes 0, 1, 2, ...: each fold gets its share of every one
  const char* name = "folds";  ///< of n_folds, in messages
};

/// The fold that each row here belongs to [n_rows], 0 .. n_folds - 1. Of every n_folds consecutive rows (of a class)
/// each goes to another fold, in an order drawn by hash; so folds differ by one row at most, or one of each class. The
/// same for any number of ranks. Collective: an all_reduce, and an
/// all_gather of a count for each class. Throws InputError, on all ranks,
/// if there are fewer rows than folds, or fewer of a class that has any.
std::vector<std::uint8_t> fold_of_rows(const Table& table, const FoldOptions& options, const comm::Communicator& comm);

// For those that deal rows in other ways.

/// Throws InputError unless it is 2 .. kMostFolds.
void check_number_of_folds(const FoldOptions& options);
/// The class of a row; 0 for a label that is none, and of all rows where they are not dealt by class.
std::size_t class_of_row(const Table& table, std::size_t row, bool by_class);
/// Its text in quotes, or its number.
std::string name_of_class(const Schema& schema, std::size_t k);

}  // namespace podere::table
