// The histograms of all nodes of a level, over all executors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "podere/base/huge_array.h"
#include "podere/base/parallel.h"
#include "podere/comm/communicator.h"
#include "podere/tree/binned.h"
#include "podere/tree/quantise.h"

namespace podere::tree {

/// Where the wide cells of a level's nodes lie. Each rank owns a run of the features; the buffer of n nodes is ordered
/// for a reduce_scatter, and what a rank receives holds its own features node by node:
///
///   [ features of rank 0: node 0 | node 1 | ... ][ features of rank 1: node 0 | node 1 | ... ] ...
class HistogramLayout {
 public:
  HistogramLayout(const BinnedRows& binned, int n_ranks);

  /// The features that `rank` owns.
  Slice features_of(int rank) const { return features_[static_cast<std::size_t>(rank)]; }
  /// Cells of one node's features that `rank` owns.
  std::size_t width(int rank) const { return width_[static_cast<std::size_t>(rank)]; }
  /// Cells of `n_nodes` nodes.
  std::size_t n_cells(std::size_t n_nodes) const { return n_nodes * total_width_; }
  /// Cells that each rank receives for `n_nodes` nodes [n_ranks].
  std::vector<std::size_t> counts(std::size_t n_nodes) const;
  /// First cell of `feature` of node `node` of `n_nodes`.
  std::size_t cell(std::size_t feature, std::size_t node, std::size_t n_nodes) const {
    const std::size_t owner = owner_[feature];
    return start_[owner] * n_nodes + node * width_[owner] + offset_[feature];
  }
  /// First cell of `feature`, one of its owner's, within a node's run.
  std::size_t offset(std::size_t feature) const { return offset_[feature]; }

 private:
  std::vector<Slice> features_;      // [n_ranks]
  std::vector<std::size_t> width_;   // [n_ranks]
  std::vector<std::size_t> start_;   // [n_ranks] cells of one node that belong to ranks below
  std::vector<std::size_t> owner_;   // [n_features]
  std::vector<std::size_t> offset_;  // [n_features]
  std::size_t total_width_ = 0;
};

/// Memory for the histograms of one tree after another: getting it from the system anew for every tree costs more than
/// scanning what is in it (docs/performance.md).
class HistogramMemory {
 public:
  /// `n_cells` cells, not set, that are the caller's until the next clear().
  std::span<std::int64_t> take(std::size_t n_cells);
  /// `n_cells` cells, not set, that are the caller's until the next call.
  std::span<std::int64_t> lend(std::size_t n_cells);
  void clear() { n_taken_ = 0; }

 private:
  std::vector<HugeArray<std::int64_t>> blocks_;  // the first n_taken_ are in use
  std::size_t n_taken_ = 0;
  HugeArray<std::int64_t> lent_;
};

/// Sums the packed gradients of each node's rows by feature and bin over all ranks. Returns this rank's share
/// [n_nodes x width(rank)] of wide cells G * 2^32 + H, taken from `memory`. `panel_is_used` [n_panels]: panels that may
/// be passed over (their cells are zero). Collective: one reduce_scatter of n_cells(n_nodes) words.
std::span<std::int64_t> build_histograms(const BinnedRows& binned, const HistogramLayout& layout,
                                         std::span<const std::span<const std::uint32_t>> rows_of_nodes,
                                         std::span<const std::uint8_t> panel_is_used, const Quantisation& quantisation,
                                         const comm::Communicator& comm, int n_threads, HistogramMemory& memory);

}  // namespace podere::tree
