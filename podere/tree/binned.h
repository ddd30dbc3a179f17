// The training rows as bins, in the layout that the histogram kernel reads.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "podere/base/huge_array.h"
#include "podere/table/row_source.h"
#include "podere/tree/cuts.h"

namespace podere::tree {

/// Features of one panel: with the gradient they fill half a cache line.
inline constexpr std::size_t kPanelFeatures = 28;

/// One row in one panel. A single access brings all that a histogram update needs:
///
///   byte  0      1            27     28 .. 31
///        [bin 0][bin 1] ... [bin 27][packed gradient]
///
/// The gradient packs the row's quantized g and h as g * 2^16 + h, so that one integer addition adds both.
struct alignas(32) RowRecord {
  std::array<std::uint8_t, kPanelFeatures> bins;
  std::int32_t gradient;
};
static_assert(sizeof(RowRecord) == 32);

/// Asks for the value of the row that a loop over `rows`, now at `i`, will come to.
template <typename T>
void prefetch_ahead(const T* values, std::span<const std::uint32_t> rows, std::size_t i) {
  constexpr std::size_t kAhead = 64;
  __builtin_prefetch(values + rows[std::min(i + kAhead, rows.size() - 1)]);
}

/// All rows held here, twice: row by row for histograms, [n_panels x n_rows] records, with the features dealt to panels
/// in order and evenly; and column by column for partitioning, which reads one feature of scattered rows: a column of
/// bins fits a cache in which the records do not.
class BinnedRows {
 public:
  /// Goes through the rows once, and releases each feature when it is binned: those that are held are never all there
  /// beside their bins. Throws InputError if the rows cannot be read.
  BinnedRows(const table::RowSource& rows, std::vector<FeatureCuts> cuts, int n_threads);
  /// The same rows with records of its own, for another training at the same time.
  BinnedRows(const BinnedRows& rows, int n_threads);

  std::size_t n_rows() const { return n_rows_; }
  std::size_t n_features() const { return cuts_.size(); }
  std::size_t n_panels() const { return panel_begin_.size() - 1; }
  const FeatureCuts& cuts(std::size_t feature) const { return cuts_[feature]; }

  /// Features [begin, end) that are in `panel`.
  std::size_t panel_begin(std::size_t panel) const { return panel_begin_[panel]; }
  std::size_t panel_end(std::size_t panel) const { return panel_begin_[panel + 1]; }

  std::span<RowRecord> panel(std::size_t p) { return {records_.data() + p * n_rows_, n_rows_}; }
  std::span<const RowRecord> panel(std::size_t p) const { return {records_.data() + p * n_rows_, n_rows_}; }

  /// The panel in which `feature` stands.
  std::size_t panel_of(std::size_t feature) const { return panel_of_[feature]; }

  /// The bins of `feature` [n_rows].
  std::span<const std::uint8_t> column(std::size_t feature) const {
    return {columns_->data() + feature * n_rows_, n_rows_};
  }

 private:
  void set_records(int n_threads);

  std::vector<FeatureCuts> cuts_;
  std::size_t n_rows_;
  std::vector<std::size_t> panel_begin_;                    // [n_panels + 1]
  std::vector<std::size_t> panel_of_;                       // [n_features]
  HugeArray<RowRecord> records_;                            // [n_panels x n_rows]
  std::shared_ptr<const HugeArray<std::uint8_t>> columns_;  // [n_features x n_rows]
};

}  // namespace podere::tree
