// Finding the bins of many values.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "podere/tree/cuts.h"

namespace podere::tree {

/// A feature's cuts laid out for a search without branches: padded with infinity to 255. Or the bins of its categories.
struct CutTable {
  explicit CutTable(const FeatureCuts& feature);
  std::array<float, 256> cuts;
  std::vector<std::uint8_t> bin_of_code;  // of categories, up to the last that has a bin of its own
  std::int32_t last_value_bin;
  std::int32_t missing_bin;
};

/// bins[i] = number of cuts <= values[i] or the bin of that category, or the missing bin for NaN. Both [n].
void find_bins(const CutTable& table, std::span<const float> values, std::uint8_t* bins);

}  // namespace podere::tree
