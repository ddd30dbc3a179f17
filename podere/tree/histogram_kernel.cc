#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "podere/tree/histogram_kernel.cc"
#include "podere/tree/histogram_kernel.h"

#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "podere/tree/quantize.h"

HWY_BEFORE_NAMESPACE();
namespace podere::tree::HWY_NAMESPACE {

void FlushLane(std::int32_t* packed, std::size_t n_bins, bool is_first, std::int64_t* wide) {
  const std::int64_t keep = is_first ? 0 : -1;  // a mask
  for (std::size_t b = 0; b < n_bins; ++b) {
    const auto low = static_cast<std::int32_t>(static_cast<std::uint32_t>(packed[b]) << 16) >> 16;  // h, with its sign
    const std::int32_t high = (packed[b] - low) >> 16;                                              // g
    wide[b] = (wide[b] & keep) + (static_cast<std::int64_t>(high) << 32) + low;
    packed[b] = 0;
  }
}

void AddCells(const std::int64_t* from, std::size_t n_bins, bool is_first, std::int64_t* to) {
  const std::int64_t keep = is_first ? 0 : -1;  // a mask
  for (std::size_t b = 0; b < n_bins; ++b) to[b] = (to[b] & keep) + from[b];
}

/// Beyond an odd number of bins lies a packed cell that is always zero.
void FlushLaneNarrow(std::int32_t* packed, std::size_t n_bins, std::int64_t* words) {
  for (std::size_t w = 0; w < narrow_words(n_bins); ++w) {
    words[w] = pack_cell(packed[2 * w + 1], packed[2 * w]);
    packed[2 * w] = 0;
    packed[2 * w + 1] = 0;
  }
}

void WidenLane(const std::int64_t* words, std::size_t n_bins, std::int64_t* wide) {
  for (std::size_t w = 0; w < n_bins / 2; ++w) {
    const CellSums two = unpack_cell(words[w]);
    wide[2 * w] = widen_cell(two.h);
    wide[2 * w + 1] = widen_cell(two.g);
  }
  if (n_bins % 2 != 0) wide[n_bins - 1] = widen_cell(unpack_cell(words[n_bins / 2]).h);
}

}  // namespace podere::tree::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace podere::tree {
namespace {

HWY_EXPORT(FlushLane);
HWY_EXPORT(AddCells);
HWY_EXPORT(FlushLaneNarrow);
HWY_EXPORT(WidenLane);

/// The lanes are unrolled: each row is one load of 32 bytes and, per lane, one load, add and store.
template <std::size_t kLanes>
void accumulate_lanes(const RowRecord* records, const std::uint32_t* rows, std::size_t n, std::int32_t* cells) {
  constexpr std::size_t kAhead = 32;  // rows between the prefetch of a record and its use
  for (std::size_t i = 0; i < n; ++i) {
    __builtin_prefetch(records + rows[i + kAhead < n ? i + kAhead : n - 1]);
    const RowRecord& record = records[rows[i]];
    const std::int32_t gradient = record.gradient;
#pragma GCC unroll 28
    for (std::size_t lane = 0; lane < kLanes; ++lane) cells[lane * kCellsPerLane + record.bins[lane]] += gradient;
  }
}

}  // namespace

void accumulate(std::span<const RowRecord> records, std::span<const std::uint32_t> rows, std::size_t n_lanes,
                PackedHistogram& histogram) {
  const auto run = [&]<std::size_t kLanes>() {
    accumulate_lanes<kLanes>(records.data(), rows.data(), rows.size(), histogram.cells);
  };
  // Lanes beyond the panel's features hold bin 0 and are never read.
  switch ((n_lanes + 3) / 4) {
    case 0:
    case 1:
      return run.operator()<4>();
    case 2:
      return run.operator()<8>();
    case 3:
      return run.operator()<12>();
    case 4:
      return run.operator()<16>();
    case 5:
      return run.operator()<20>();
    case 6:
      return run.operator()<24>();
    default:
      return run.operator()<28>();
  }
}

void flush_lane(std::int32_t* packed, std::size_t n_bins, bool is_first, std::int64_t* wide) {
  HWY_DYNAMIC_DISPATCH(FlushLane)(packed, n_bins, is_first, wide);
}

void add_cells(const std::int64_t* from, std::size_t n_bins, bool is_first, std::int64_t* to) {
  HWY_DYNAMIC_DISPATCH(AddCells)(from, n_bins, is_first, to);
}

void flush_lane_narrow(std::int32_t* packed, std::size_t n_bins, std::int64_t* words) {
  HWY_DYNAMIC_DISPATCH(FlushLaneNarrow)(packed, n_bins, words);
}

void widen_lane(const std::int64_t* words, std::size_t n_bins, std::int64_t* wide) {
  HWY_DYNAMIC_DISPATCH(WidenLane)(words, n_bins, wide);
}

}  // namespace podere::tree
#endif
