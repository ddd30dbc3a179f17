#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "podere/tree/binning_kernel.cc"
#include "podere/tree/binning_kernel.h"

#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace podere::tree::HWY_NAMESPACE {

// A binary search in eight steps. Steps are the outer loop, so that the values of a chunk advance together: the
// compiler turns the inner loop into gathers where the machine has them, and into independent chains elsewhere.
void FindBins(const CutTable& table, std::span<const float> values, std::uint8_t* bins) {
  constexpr std::size_t kChunk = 64;
  const float* const cuts = table.cuts.data();
  for (std::size_t begin = 0; begin < values.size(); begin += kChunk) {
    const std::size_t n = values.size() - begin < kChunk ? values.size() - begin : kChunk;
    float chunk[kChunk] = {};
    std::int32_t position[kChunk] = {};
    for (std::size_t i = 0; i < n; ++i) chunk[i] = values[begin + i];
    for (std::int32_t step = 128; step > 0; step /= 2) {
      for (std::size_t i = 0; i < kChunk; ++i) {
        position[i] += static_cast<std::int32_t>(cuts[position[i] + step - 1] <= chunk[i]) * step;
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      const std::int32_t bin = position[i] < table.last_value_bin ? position[i] : table.last_value_bin;
      bins[begin + i] = static_cast<std::uint8_t>(chunk[i] != chunk[i] ? table.missing_bin : bin);
    }
  }
}

}  // namespace podere::tree::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <limits>

namespace podere::tree {

HWY_EXPORT(FindBins);

CutTable::CutTable(const FeatureCuts& feature)
    : last_value_bin(static_cast<std::int32_t>(feature.cuts.size())), missing_bin(feature.missing_bin()) {
  cuts.fill(std::numeric_limits<float>::infinity());
  if (feature.is_categorical) {
    for (std::size_t bin = 0; bin < feature.cuts.size(); ++bin) {
      const auto code = static_cast<std::size_t>(feature.cuts[bin]);
      if (code >= bin_of_code.size()) bin_of_code.resize(code + 1, static_cast<std::uint8_t>(last_value_bin));
      bin_of_code[code] = static_cast<std::uint8_t>(bin);
    }
    return;
  }
  std::copy(feature.cuts.begin(), feature.cuts.end(), cuts.begin());
}

void find_bins(const CutTable& table, std::span<const float> values, std::uint8_t* bins) {
  if (table.bin_of_code.empty()) return HWY_DYNAMIC_DISPATCH(FindBins)(table, values, bins);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float code = values[i];
    const std::int32_t bin = code != code ? table.missing_bin
                             : code < static_cast<float>(table.bin_of_code.size())
                                 ? table.bin_of_code[static_cast<std::size_t>(code)]
                                 : table.last_value_bin;
    bins[i] = static_cast<std::uint8_t>(bin);
  }
}

}  // namespace podere::tree
#endif
