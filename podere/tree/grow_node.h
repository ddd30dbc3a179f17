// A node of a tree under growth.
#pragma once

#include <cstdint>
#include <span>

#include "podere/base/parallel.h"
#include "podere/tree/constraints.h"
#include "podere/tree/monotone.h"
#include "podere/tree/split_kernel.h"

namespace podere::tree {

/// Its place in the list of nodes is its place in the tree.
struct GrowNode {
  Slice rows;                       ///< its piece of the row list
  std::int64_t total = 0;           ///< quantized sums of its rows on all ranks
  std::uint64_t n_global_rows = 0;  ///< its rows on all ranks
  Split split;                      ///< none: a leaf
  std::size_t left = 0;             ///< children: left and left + 1
  int depth = 0;
  std::span<std::int64_t> cells;  ///< this rank's share of its histogram; a larger sibling's: at first its parent's
  ValueBounds bounds;             ///< of what the leaves below say, before the learning rate
  OpenSets open_sets;

  bool is_leaf() const { return !split.is_found(); }
};

}  // namespace podere::tree
