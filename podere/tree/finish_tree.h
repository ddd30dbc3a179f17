// From grown nodes to a tree of the model, and to margins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "podere/tree/binned.h"
#include "podere/tree/gradient.h"
#include "podere/tree/grow.h"
#include "podere/tree/grow_node.h"
#include "podere/tree/model.h"

namespace podere::tree {

/// A tree whose growth has ended. Borrows all it has.
struct GrownTree {
  std::span<const GrowNode> nodes;
  std::span<const std::uint32_t> rows;  ///< the row list that nodes have pieces of: local row numbers
  const BinnedRows& binned;
};

/// The leaves, in tree order.
std::vector<LeafRows> leaves_of(const GrownTree& grown);

/// The grown splits by values instead of bins, with a cover H for each node and for each leaf the value
///
///   -learning_rate * G / (H + lambda)
///
/// where G and H sum the gradients of `output` as they were before they were quantized, over the node's rows on all
/// ranks. A step -G / (H + lambda) of Poisson is at most max_delta_step long; a leaf without weight has value 0.
/// Collective: one all_reduce of two words a node.
Tree finish_tree(const GrowContext& context, const GrownTree& grown, const Gradients& gradients, std::size_t output);

/// Adds the leaf values of `tree`, which was made of `grown`, to `margins` [n_rows] of all rows held here, whether the
/// tree was grown on them or not; of the latter only to those whose `is_followed` [n_rows] is not 0. Empty: to all.
/// Local.
void add_to_margins(const GrownTree& grown, const Tree& tree, std::span<const std::uint8_t> is_followed, int n_threads,
                    std::span<float> margins);

}  // namespace podere::tree
