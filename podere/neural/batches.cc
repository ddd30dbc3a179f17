#include "podere/neural/batches.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "podere/base/hash.h"
#include "podere/neural/network.h"
#include "podere/neural/streams.h"

namespace podere::neural {
namespace {

/// The lowest n_bits of x in reverse.
std::uint64_t reverse_bits(std::uint64_t x, int n_bits) {
  std::uint64_t reversed = 0;
  for (int i = 0; i < n_bits; ++i) reversed |= (x >> i & 1) << (n_bits - 1 - i);
  return reversed;
}

/// A whole number below n, from 64 random bits.
std::uint64_t below(std::uint64_t n, std::uint64_t bits) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<Wide>(bits) * n >> 64);
}

}  // namespace

Batches::Batches(std::vector<std::uint16_t> block_rows, std::size_t batch_size)
    : block_rows_(std::move(block_rows)),
      tile_rows_((batch_size + round_up(batch_size, kTileRows) / kTileRows - 1) /
                 (round_up(batch_size, kTileRows) / kTileRows)),
      tiles_per_batch_(round_up(batch_size, kTileRows) / kTileRows) {
  for (const std::uint16_t n : block_rows_) {
    n_tiles_ += (n + tile_rows_ - 1) / tile_rows_;
    n_rows_ += n;
  }
}

Batches::Batches(std::vector<std::uint16_t> block_rows) : Batches(std::move(block_rows), kTileRows) {
  tiles_per_batch_ = std::max<std::size_t>(n_tiles_, 1);
}

TileOrder::TileOrder(const Batches& batches, std::uint64_t seed, std::uint64_t epoch)
    : batches_(&batches),
      seed_(seed),
      epoch_(epoch),
      n_bits_(static_cast<int>(std::bit_width(std::max<std::size_t>(batches.block_rows().size(), 1) - 1))) {
  begin_round();
}

void TileOrder::begin_round() {
  position_ = 0;
  const std::uint64_t bits = hash64(hash64(seed_, kBlockOrderStream, epoch_), 0, round_);
  rotation_ = below(batches_->block_rows().size(), bits);
}

Tile TileOrder::next() {
  const std::vector<std::uint16_t>& block_rows = batches_->block_rows();
  const std::size_t n_blocks = block_rows.size();
  const std::size_t first = static_cast<std::size_t>(round_) * batches_->tile_rows();
  for (;;) {
    if (position_ == std::uint64_t{1} << n_bits_) {
      ++round_;
      begin_round();
      return next();
    }
    const std::uint64_t place = reverse_bits(position_++, n_bits_);
    if (place >= n_blocks) continue;
    const std::size_t block = (place + rotation_) % n_blocks;
    if (first < block_rows[block]) return {block, first, std::min(batches_->tile_rows(), block_rows[block] - first)};
  }
}

void TileOrder::skip(std::size_t n_tiles) {
  for (; n_tiles > 0; --n_tiles) next();
}

void shuffle_rows(std::uint64_t seed, std::uint64_t epoch, std::size_t block, std::span<std::uint16_t> rows) {
  RandomSequence random(hash64(seed, kShuffleStream, epoch), 0, block);
  for (std::size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[below(i, random.next())]);
}

}  // namespace podere::neural
