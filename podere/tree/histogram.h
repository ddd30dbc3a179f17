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
#include "podere/tree/quantize.h"

namespace podere::tree {

/// Where the words of a histogram's features lie, by the rank that owns them.
struct FeatureWords {
  FeatureWords(std::span<const std::size_t> widths, std::span<const std::size_t> owners, std::size_t n_ranks);

  std::vector<std::size_t> offset;  // [n_features] of a feature among its owner's
  std::vector<std::size_t> width;   // [n_ranks] of all features of a rank
  std::vector<std::size_t> start;   // [n_ranks] words of ranks below
  std::size_t total = 0;
};

/// Who owns which features. Each rank owns a run of them, and holds a node's histogram of these in wide cells.
class HistogramLayout {
 public:
  HistogramLayout(const BinnedRows& binned, int n_ranks);

  /// The features that `rank` owns.
  Slice features_of(int rank) const { return features_[static_cast<std::size_t>(rank)]; }
  /// Cells of one node's features that `rank` owns.
  std::size_t width(int rank) const { return wide_.width[static_cast<std::size_t>(rank)]; }
  /// First cell of `feature`, one of its owner's, within a node's run.
  std::size_t offset(std::size_t feature) const { return wide_.offset[feature]; }

 private:
  friend class HistogramMessage;
  HistogramLayout(std::vector<std::size_t> n_bins, std::size_t n_ranks);

  std::vector<std::size_t> owner_;  // [n_features]
  std::vector<Slice> features_;     // [n_ranks]
  FeatureWords wide_;
  FeatureWords narrow_;
};

/// Where the cells of a level's nodes lie in what is sent: ordered for a reduce_scatter, so that a rank receives its
/// own features node by node. A wide node takes a word a cell, a narrow one half a word (histogram_kernel.h).
///
///   [ features of rank 0: node 0 | node 1 | ... ][ features of rank 1: node 0 | node 1 | ... ] ...
class HistogramMessage {
 public:
  /// `is_narrow` [n_nodes]. `layout` is borrowed.
  HistogramMessage(const HistogramLayout& layout, std::vector<std::uint8_t> is_narrow);

  bool is_narrow(std::size_t node) const { return is_narrow_[node] != 0; }
  std::size_t n_words() const { return n_wide_ * layout_.wide_.total + n_narrow_ * layout_.narrow_.total; }
  /// Words that each rank receives [n_ranks].
  std::vector<std::size_t> counts() const;
  /// First word for `rank`.
  std::size_t start(std::size_t rank) const {
    return n_wide_ * layout_.wide_.start[rank] + n_narrow_ * layout_.narrow_.start[rank];
  }
  /// First word of `feature` of `node`.
  std::size_t word(std::size_t feature, std::size_t node) const {
    const std::size_t owner = layout_.owner_[feature];
    const std::size_t narrow_before = narrow_before_[node];
    return start(owner) + (node - narrow_before) * layout_.wide_.width[owner] +
           narrow_before * layout_.narrow_.width[owner] +
           (is_narrow(node) ? layout_.narrow_ : layout_.wide_).offset[feature];
  }

 private:
  const HistogramLayout& layout_;
  std::vector<std::uint8_t> is_narrow_;     // [n_nodes]
  std::vector<std::size_t> narrow_before_;  // [n_nodes]
  std::size_t n_wide_ = 0;
  std::size_t n_narrow_ = 0;
};

/// Memory for the histograms of one tree after another: getting it from the system anew for every tree costs more than
/// scanning what is in it (docs/performance.md).
class HistogramMemory {
 public:
  /// `n_cells` cells, not set, that are the caller's until the next clear().
  std::span<std::int64_t> take(std::size_t n_cells);
  /// `n_cells` cells, not set, that are the caller's until the next call.
  std::span<std::int64_t> scratch(std::size_t n_cells);
  void clear() { n_used_ = 0; }

 private:
  std::vector<HugeArray<std::int64_t>> blocks_;  // the first n_used_ are in use
  std::size_t n_used_ = 0;
  HugeArray<std::int64_t> scratch_;
};

/// The rows of a node.
struct NodeRows {
  std::span<const std::uint32_t> rows;  ///< on this rank, by local number
  std::uint64_t n_global_rows;          ///< on all ranks
};

/// Sums the packed gradients of each node's rows by feature and bin over all ranks. Returns this rank's share
/// [n_nodes x width(rank)] of wide cells G * 2^32 + H, scratch in `memory`. `panel_is_used` [n_panels]: panels that may
/// be passed over (their cells are zero). Collective: one reduce_scatter of a word a cell, of half a word for nodes of
/// so few rows that the sums fit.
std::span<std::int64_t> build_histograms(const BinnedRows& binned, const HistogramLayout& layout,
                                         std::span<const NodeRows> nodes, std::span<const std::uint8_t> panel_is_used,
                                         const Quantization& quantization, const comm::Communicator& comm,
                                         int n_threads, HistogramMemory& memory);

}  // namespace podere::tree
