// Finding the bins of many values.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "podere/tree/cuts.h"

namespace podere::tree {

/// A feature's cuts laid out for a search without branches: padded with infinity to 255.
struct CutTable {
  explicit CutTable(const FeatureCuts& feature);
  std::array<float, 256> cuts;
  std::int32_t last_value_bin;
  std::int32_t missing_bin;
};

/// bins[i] = number of cuts <= values[i], or the missing bin for NaN. Both [n].
void find_bins(const CutTable& table, std::span<const float> values, std::uint8_t* bins);

}  // namespace podere::tree
