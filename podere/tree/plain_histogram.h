// The plain reference of histograms, for tests.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "podere/tree/binned.h"
#include "podere/tree/quantize.h"

namespace podere::tree {

/// Cells of a node by adding up row by row.
inline std::vector<std::int64_t> plain_histogram(const BinnedRows& binned, std::span<const std::uint32_t> rows,
                                                 std::size_t feature) {
  std::vector<std::int64_t> cells(static_cast<std::size_t>(binned.cuts(feature).n_bins()));
  for (const std::uint32_t row : rows) {
    const std::int32_t packed = binned.panel(binned.panel_of(feature))[row].gradient;
    const auto h = static_cast<std::int16_t>(packed);
    cells[binned.column(feature)[row]] += pack_cell((packed - h) / 65536, h);
  }
  return cells;
}

}  // namespace podere::tree
