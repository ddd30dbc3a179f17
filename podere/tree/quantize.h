// Gradients as small integers, so that sums of them are exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "podere/table/row.h"
#include "podere/tree/binned.h"
#include "podere/tree/gradient.h"

namespace podere::tree {

/// What one unit of quantized g and h is worth, and how many units there are at most.
///
/// A histogram cell adds packed gradients g * 2^16 + h in 32 bits, which cannot overflow for rows_per_flush() rows; it
/// is then added to a cell that holds G * 2^32 + H in 64 bits, which cannot overflow for all rows of the table.
struct Quantization {
  int levels = 0;  ///< quantized |g|, |h| <= levels
  double g_unit = 0;
  double h_unit = 0;

  int rows_per_flush() const { return 32767 / levels; }
};

/// The quantization for gradients with these bounds on `n_global_rows` rows.
/// Throws InputError if there are too many rows for even one level.
Quantization choose_quantization(const Gradients& gradients, std::uint64_t n_global_rows);

/// G and H of a histogram cell, in units.
struct CellSums {
  std::int32_t g;
  std::int32_t h;
};
constexpr std::int64_t pack_cell(std::int64_t g, std::int64_t h) { return g * (std::int64_t{1} << 32) + h; }
constexpr CellSums unpack_cell(std::int64_t cell) {
  const auto h = static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::uint64_t>(cell)));
  const auto g = static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::uint64_t>(cell - h) >> 32));
  return {g, h};
}

/// The cell that holds the G and H of a packed one, g * 2^16 + h.
constexpr std::int64_t widen_cell(std::int32_t packed) {
  const auto h = static_cast<std::int16_t>(packed);
  return pack_cell((packed - h) / 65536, h);
}

/// Quantizes the gradients of `rows` (local row numbers) into the records of all panels: floor(x + u), with u uniform
/// in [0, 1) by hash of (key, global row), so that sums are right on average. Returns the packed sum over `rows`.
/// Source: Shi, Ke, Chen, Zheng, Liu, "Quantized Training of Gradient Boosting Decision Trees", NeurIPS 2022, 4.2.
std::int64_t quantize_gradients(std::span<const Gradient> gradients, std::span<const std::uint32_t> rows,
                                table::RowRange table_rows, const Quantization& quantization, std::uint64_t key,
                                int n_threads, BinnedRows& binned);

}  // namespace podere::tree
