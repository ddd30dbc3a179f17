// Which rows are trained on together, in which order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "podere/table/row.h"

namespace podere::neural {

/// Rows of one row block that are used together: places [first, first + n) in the block's order of this epoch.
struct Tile {
  std::size_t block;
  std::size_t first;
  std::size_t n;
};

/// The rows to train on, cut into batches of whole tiles. A tile is of one row block, so it lies on one executor. The
/// same on every executor; nothing here depends on their number.
class Batches {
 public:
  /// `block_rows` [n_blocks]: how many rows of each row block are trained on. A batch is of ceil(batch_size /
  /// kTileRows) tiles, each of as few rows as reach batch_size.
  Batches(std::vector<std::uint16_t> block_rows, std::size_t batch_size);
  /// All rows as one batch.
  explicit Batches(std::vector<std::uint16_t> block_rows);

  std::size_t tile_rows() const { return tile_rows_; }
  std::size_t tiles_per_batch() const { return tiles_per_batch_; }
  std::size_t n_tiles() const { return n_tiles_; }
  std::uint64_t n_rows() const { return n_rows_; }
  /// Batches of an epoch; the last may be smaller.
  std::size_t n_steps() const { return (n_tiles_ + tiles_per_batch_ - 1) / tiles_per_batch_; }
  const std::vector<std::uint16_t>& block_rows() const { return block_rows_; }

 private:
  std::vector<std::uint16_t> block_rows_;
  std::size_t tile_rows_;
  std::size_t n_tiles_ = 0;
  std::uint64_t n_rows_ = 0;
  std::size_t tiles_per_batch_ = 0;
};

/// The tiles of an epoch, batch after batch. Round k takes the k-th tile of every row block that has one, in an order
/// that goes through the whole table evenly from a place that is drawn by hash of (seed, epoch, k): so any run of
/// consecutive tiles is shared evenly by executors.
class TileOrder {
 public:
  /// `batches` outlives this.
  TileOrder(const Batches& batches, std::uint64_t seed, std::uint64_t epoch);

  /// The next tile of the epoch, which must not be over.
  Tile next();
  void skip(std::size_t n_tiles);

 private:
  void begin_round();

  const Batches* batches_;
  std::uint64_t seed_;
  std::uint64_t epoch_;
  std::uint64_t round_ = 0;
  std::uint64_t position_ = 0;  // in the order of blocks
  std::uint64_t rotation_ = 0;
  int n_bits_ = 0;
};

/// Puts the rows of a block, given by their places in it, into a random order by hash of (seed, epoch, block).
/// Source: R. A. Fisher and F. Yates, as D. E. Knuth has it, TAOCP 2, algorithm 3.4.2 P.
void shuffle_rows(std::uint64_t seed, std::uint64_t epoch, std::size_t block, std::span<std::uint16_t> rows);

}  // namespace podere::neural
