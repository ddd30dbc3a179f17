// The loss of a batch, and its gradient, by all executors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/neural/batches.h"
#include "podere/neural/rows.h"
#include "podere/neural/tile_pass.h"
#include "podere/table/weighted_labels.h"

namespace podere::neural {

/// The rows of this executor with all that training needs to know of them.
struct TrainingRows {
  FeatureRows features;
  table::LabeledRows labels;
  /// Rows trained on, by their place in the row block, block after block, as `ends` [blocks here] cuts them.
  std::vector<std::uint16_t> order;
  std::vector<std::size_t> ends;

  std::size_t first_block() const { return static_cast<std::size_t>(features.range.begin / table::kBlockRows); }
  std::size_t n_blocks() const { return ends.size(); }
  std::span<const std::uint16_t> of_block(std::size_t local_block) const {
    return const_cast<TrainingRows*>(this)->of_block(local_block);
  }
  std::span<std::uint16_t> of_block(std::size_t local_block) {
    const std::size_t begin = local_block == 0 ? 0 : ends[local_block - 1];
    return std::span(order).subspan(begin, ends[local_block] - begin);
  }
};

/// What one pass over a batch gives.
struct BatchResult {
  double loss = 0;        ///< sum of weighted losses over the batch
  bool is_finite = true;  ///< else loss and gradient are of no use
};

/// Takes batches through a network and sums up over threads and executors, exactly: the same bits on any number of
/// them.
///
/// A tile's gradient is summed in float32 in a fixed order, then rounded to multiples of 2^-exponent() and added up as
/// whole numbers. The exponent follows the largest value of a tile's gradient in the batch before: rounding loses less
/// than 2^-38 of that, against the 2^-24 of float32. A batch whose values are too large or far too small for it is done
/// again with another.
class BatchGradient {
 public:
  /// All outlive this.
  BatchGradient(const Layout& layout, const Options& options, TrainingRows& rows, const comm::Communicator& comm,
                int n_threads);
  ~BatchGradient();
  BatchGradient(const BatchGradient&) = delete;
  BatchGradient& operator=(const BatchGradient&) = delete;

  /// Sets `gradient` [layout.size()] to the sum over the `tiles` of all executors of the weighted losses' derivatives,
  /// over `divisor`.
  /// `dropout_key` is of this step. Collective: one all_reduce of 8 bytes a weight and 1 KiB, twice at the beginning.
  BatchResult compute(std::span<const float> weights, std::span<const Tile> tiles, std::uint64_t dropout_key,
                      double divisor, std::span<double> gradient);

  /// Where the next batch begins; part of what a checkpoint keeps.
  int exponent() const { return exponent_; }
  void set_exponent(int exponent) { exponent_ = exponent; }

 private:
  struct Worker;
  TileRows gather(const Tile& tile, Worker& worker, std::uint64_t dropout_key);
  /// Has the features of a tile fetched from memory while the worker computes.
  void announce(const Tile& tile, Worker& worker) const;
  void add_up_threads();

  const Layout& layout_;
  TrainingRows& rows_;
  const comm::Communicator& comm_;
  int n_threads_;
  int exponent_ = 30;
  PassWeights weights_;
  std::vector<Worker> workers_;  // one a thread
  std::vector<std::int64_t> words_;
};

}  // namespace podere::neural
