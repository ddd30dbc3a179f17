// Batch after batch, epoch after epoch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "podere/neural/batch_gradient.h"
#include "podere/neural/batches.h"

namespace podere::neural {

/// Rows that are used together.
struct Batch {
  std::vector<Tile> tiles;
  std::size_t n_rows = 0;
  std::uint64_t dropout_key = 0;
};

/// Iterates over rows without end, in another order each epoch by hash of (seed, epoch).
class BatchCursor {
 public:
  /// `rows` outlives this and has its order changed by next().
  BatchCursor(TrainingRows& rows, Batches batches, std::uint64_t seed, int n_threads);

  Batch next();
  /// Continues with batch `step` of `epoch`. Throws InputError if that has fewer.
  void go_to(std::uint64_t epoch, std::size_t step);

  const Batches& batches() const { return batches_; }
  /// Of the batch to come.
  std::uint64_t epoch() const { return epoch_; }
  std::size_t step() const { return step_; }

 private:
  void begin_epoch();

  TrainingRows& rows_;
  Batches batches_;
  std::uint64_t seed_;
  int n_threads_;
  std::vector<std::uint16_t> natural_order_;
  TileOrder order_;
  std::uint64_t epoch_ = 0;
  std::size_t step_ = 0;  // of the epoch
  std::size_t n_tiles_left_ = 0;
};

}  // namespace podere::neural
