// The rows that trees are grown of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/table/row_source.h"

namespace podere::isolation {

/// `n` different ones of the rows 0 .. n_rows-1, n <= n_rows, rising. Every set of `n` rows is as likely. They follow
/// from the seed and the number of the tree alone.
std::vector<std::uint64_t> rows_of_tree(std::uint64_t seed, std::size_t tree, std::uint64_t n_rows, std::size_t n);

/// The samples of some trees.
struct Samples {
  std::size_t n_features = 0;
  std::vector<float> values;                       ///< of different rows [.. x n_features], row by row
  std::vector<std::vector<std::uint32_t>> places;  ///< of each tree [n_trees][n]: its rows among those of `values`

  float value(std::uint32_t place, std::size_t feature) const { return values[place * n_features + feature]; }
};

/// Of the trees first .. first + n_trees - 1, with `n` rows each. On all ranks. Goes through the rows once. Collective:
/// one all_gather_v of values. Throws InputError, on all ranks, if rows cannot be read, or a category of
/// theirs is none.
Samples gather_samples(const table::RowSource& rows, std::uint64_t seed, std::size_t first, std::size_t n_trees,
                       std::size_t n, const comm::Communicator& comm);

}  // namespace podere::isolation
