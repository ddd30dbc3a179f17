// Growing a tree that isolates rows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "podere/isolation/samples.h"
#include "podere/table/table.h"
#include "podere/tree/model.h"

namespace podere::isolation {

/// The mean length of the way to a row in a tree that isolates each of `n` rows, which is that of an unsuccessful
/// search in a binary search tree: 0 for one row, 1 for two, else
///   c(n) = 2 H(n-1) - 2 (n-1) / n,   H(i) = ln i + 0.5772156649 (Euler's constant)
double mean_path_length(std::uint64_t n);

/// A tree of the rows whose places among those of `samples` are `places[tree]`. Each node draws one of the features
/// that vary among its rows, and a threshold between their least and their largest value; of a feature of categories
/// each category draws a side. Rows without a value take a side that the node draws. A node is a leaf where no feature
/// varies, or ceil(log2 n) below the root for n rows. The value of a leaf is the length of the way to it plus the mean
/// path length of its rows, its cover how many these are. `number` is that of the tree in the forest, which the random
/// numbers follow from. Infinite values count as the largest numbers. Local.
tree::Tree grow(const Samples& samples, std::size_t tree, const table::Schema& schema, std::uint64_t seed,
                std::size_t number);

}  // namespace podere::isolation
