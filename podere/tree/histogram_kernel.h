// The loop that most of the training time is spent in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "podere/tree/binned.h"

namespace podere::tree {

inline constexpr std::size_t kCellsPerLane = 256;

/// Sums of packed gradients g * 2^16 + h of the rows of one node in one panel, [28 lanes x 256 bins]: 28 KB, which stay
/// in the first-level cache.
struct alignas(64) PackedHistogram {
  std::int32_t cells[kPanelFeatures * kCellsPerLane];
};

/// For each row in `rows` and each of the first `n_lanes` lanes: cells[lane][bin] += gradient. At most
/// Quantization::rows_per_flush() rows between two calls of flush_lane.
void accumulate(std::span<const RowRecord> records, std::span<const std::uint32_t> rows, std::size_t n_lanes,
                PackedHistogram& histogram);

/// Adds `n_bins` packed cells to wide cells G * 2^32 + H, or sets those if `is_first`; the packed ones become zero.
void flush_lane(std::int32_t* packed, std::size_t n_bins, bool is_first, std::int64_t* wide);

/// Adds `n_bins` wide cells to others, or sets those if `is_first`.
void add_cells(const std::int64_t* from, std::size_t n_bins, bool is_first, std::int64_t* to);

/// Two packed cells in a word: sums of such words hold the sums of both cells, while those fit packed cells.
constexpr std::size_t narrow_words(std::size_t n_bins) { return (n_bins + 1) / 2; }
/// Moves `n_bins` packed cells to words [narrow_words(n_bins)]; the packed ones become zero.
void flush_lane_narrow(std::int32_t* packed, std::size_t n_bins, std::int64_t* words);
/// Sets `n_bins` wide cells to what the words hold.
void widen_lane(const std::int64_t* words, std::size_t n_bins, std::int64_t* wide);

}  // namespace podere::tree
