// Growing one tree, level by level or leaf by leaf.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "podere/base/parallel.h"
#include "podere/comm/communicator.h"
#include "podere/tree/binned.h"
#include "podere/tree/constraints.h"
#include "podere/tree/gradient.h"
#include "podere/tree/histogram.h"
#include "podere/tree/model.h"
#include "podere/tree/options.h"

namespace podere::tree {

/// A leaf and its piece of the row list.
struct LeafRows {
  std::size_t node;
  Slice rows;
};

/// Sets other values of the leaves of `tree`, which was grown on `rows` at `margins` [n_rows]. Collective.
using RefitLeaves = std::function<void(std::span<const LeafRows> leaves, std::span<const std::uint32_t> rows,
                                       std::span<const float> margins, Tree& tree)>;

/// What the trees of one training run share.
struct GrowContext {
  const Options& options;
  const Constraints& constraints;
  const HistogramLayout& layout;
  const comm::Communicator& comm;
  HistogramMemory& memory;
  std::uint64_t n_global_rows;
  table::RowRange table_rows;
  int n_threads;
  RefitLeaves refit_leaves;                        ///< empty: leaf values are those of Newton's step
  std::span<const std::uint8_t> is_followed = {};  ///< [n_rows] 0: the row's margins are of no use; empty: all are
};

/// Grows a tree on `rows` (local row numbers, rising) and adds its leaf values to `margins` [n_rows] of all rows held
/// here that are followed, whether in `rows` or not. `tree_number` keys the random choices. Reorders `rows`; `scratch`
/// is as long. The records of `binned` receive the quantized gradients. Collective: per level, or per split where the
/// best leaf is split first, one reduce_scatter of the built histograms, one all_gather of best splits by those who own
/// features, one all_reduce of row counts; at the end one all_reduce of leaf sums, and what `refit_leaves` does. The
/// same tree for any number of ranks and threads.
Tree grow_tree(const GrowContext& context, std::uint64_t tree_number, const Gradients& gradients, std::size_t output,
               BinnedRows& binned, std::span<std::uint32_t> rows, std::span<std::uint32_t> scratch,
               std::span<float> margins);

}  // namespace podere::tree
