#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "podere/tree/quantize.cc"
#include "podere/tree/quantize.h"

#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "podere/base/hash.h"

HWY_BEFORE_NAMESPACE();
namespace podere::tree::HWY_NAMESPACE {

std::int32_t RoundDown(float x, std::int32_t levels) {
  const auto toward_zero = static_cast<std::int32_t>(x);
  const std::int32_t down = toward_zero - (x < static_cast<float>(toward_zero) ? 1 : 0);
  return down < -levels ? -levels : down > levels ? levels : down;
}

/// packed[i] = quantized gradient of global row rows[i].
void QuantizeRows(const Gradient* gradients, const std::uint64_t* rows, std::size_t n, const Quantization& quantization,
                  std::uint64_t key, std::int32_t* packed) {
  const std::int32_t levels = quantization.levels;
  const auto per_g = static_cast<float>(quantization.g_unit > 0 ? 1 / quantization.g_unit : 0.0);
  const auto per_h = static_cast<float>(quantization.h_unit > 0 ? 1 / quantization.h_unit : 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    // Sixteen bits are exact beside any quantized value in a float.
    const std::uint64_t random = mix64(key + rows[i] * kGoldenGamma);
    const float u = static_cast<float>(static_cast<std::int32_t>(random & 0xffff)) * 0x1.0p-16F;
    const float v = static_cast<float>(static_cast<std::int32_t>(random >> 48)) * 0x1.0p-16F;
    const std::int32_t g = RoundDown(gradients[i].g * per_g + u, levels);
    const std::int32_t h = RoundDown(gradients[i].h * per_h + v, levels);
    packed[i] = g * 65536 + h;
  }
}

}  // namespace podere::tree::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <atomic>
#include <limits>

#include "podere/base/error.h"
#include "podere/base/parallel.h"

namespace podere::tree {

HWY_EXPORT(QuantizeRows);

Quantization choose_quantization(const Gradients& gradients, std::uint64_t n_global_rows) {
  constexpr std::uint64_t kCellLimit = std::numeric_limits<std::int32_t>::max();
  // Measured (docs/performance.md): more levels gain nothing on many rows and flush more often.
  constexpr std::uint64_t kFewRows = 100'000;
  const std::uint64_t wanted = n_global_rows <= kFewRows ? 127 : 31;
  const std::uint64_t levels = std::min(wanted, kCellLimit / std::max<std::uint64_t>(n_global_rows, 1));
  if (levels == 0) throw_input_error("the table has {} rows, allowed are at most {}", n_global_rows, kCellLimit);
  return {.levels = static_cast<int>(levels),
          .g_unit = gradients.max_abs_g / static_cast<double>(levels),
          .h_unit = gradients.max_abs_h / static_cast<double>(levels)};
}

std::int64_t quantize_gradients(std::span<const Gradient> gradients, std::span<const std::uint32_t> rows,
                                table::RowRange table_rows, const Quantization& quantization, std::uint64_t key,
                                int n_threads, BinnedRows& binned) {
  constexpr std::size_t kChunk = 1024;
  std::atomic<std::int64_t> total = 0;
  parallel_for_slices(n_threads, rows.size(), kChunk, [&](std::size_t begin, std::size_t end, int) {
    std::array<Gradient, kChunk> chunk;
    std::array<std::uint64_t, kChunk> global_rows;
    std::array<std::int32_t, kChunk> packed;
    const std::size_t n = end - begin;
    for (std::size_t i = 0; i < n; ++i) {
      chunk[i] = gradients[rows[begin + i]];
      global_rows[i] = table_rows.begin + rows[begin + i];
    }
    HWY_DYNAMIC_DISPATCH(QuantizeRows)(chunk.data(), global_rows.data(), n, quantization, key, packed.data());
    for (std::size_t p = 0; p < binned.n_panels(); ++p) {
      RowRecord* const records = binned.panel(p).data();
      for (std::size_t i = 0; i < n; ++i) records[rows[begin + i]].gradient = packed[i];
    }
    std::int64_t g_sum = 0;
    std::int64_t h_sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const auto h = static_cast<std::int16_t>(packed[i]);
      h_sum += h;
      g_sum += (packed[i] - h) / 65536;
    }
    total += pack_cell(g_sum, h_sum);
  });
  return total;
}

}  // namespace podere::tree
#endif
