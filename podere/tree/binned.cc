#include "podere/tree/binned.h"

#include <algorithm>
#include <utility>

#include "podere/base/parallel.h"
#include "podere/tree/binning_kernel.h"

namespace podere::tree {

BinnedRows::BinnedRows(const table::RowSource& rows, std::vector<FeatureCuts> cuts, int n_threads)
    : cuts_(std::move(cuts)), n_rows_(rows.labels().n_rows()) {
  const std::size_t n_panels = std::max<std::size_t>(1, (n_features() + kPanelFeatures - 1) / kPanelFeatures);
  for (std::size_t p = 0; p < n_panels; ++p) {
    const Slice features = slice_of(n_features(), p, n_panels);
    panel_begin_.push_back(features.begin);
    for (std::size_t j = features.begin; j < features.end; ++j) panel_of_.push_back(p);
  }
  panel_begin_.push_back(n_features());

  const auto columns = std::make_shared<HugeArray<std::uint8_t>>(n_features() * n_rows_);
  columns_ = columns;
  const std::vector<CutTable> tables(cuts_.begin(), cuts_.end());
  rows.for_each_window([&](const table::Table& window) {
    const std::size_t first = window.rows().begin - rows.labels().rows().begin;
    for (std::size_t j = 0; j < n_features(); ++j) {
      constexpr std::size_t kGrain = 16384;
      const std::span<const float> values = window.feature(j);
      std::uint8_t* const bins = columns->data() + j * n_rows_ + first;
      parallel_for_slices(n_threads, values.size(), kGrain, [&](std::size_t begin, std::size_t end, int) {
        find_bins(tables[j], values.subspan(begin, end - begin), bins + begin);
      });
      rows.release_features(j + 1);
    }
  });
  set_records(n_threads);
}

BinnedRows::BinnedRows(const BinnedRows& rows, int n_threads)
    : cuts_(rows.cuts_),
      n_rows_(rows.n_rows_),
      panel_begin_(rows.panel_begin_),
      panel_of_(rows.panel_of_),
      columns_(rows.columns_) {
  set_records(n_threads);
}

void BinnedRows::set_records(int n_threads) {
  records_ = HugeArray<RowRecord>(n_panels() * n_rows_);
  constexpr std::size_t kTileRows = 512;  // of records: 16 KB, half of the first-level cache
  parallel_for_slices(n_threads, n_rows_, kTileRows, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t p = 0; p < n_panels(); ++p) {
      RowRecord* const records = panel(p).data();
      std::fill(records + begin, records + end, RowRecord{});
      for (std::size_t j = panel_begin(p); j < panel_end(p); ++j) {
        const std::span<const std::uint8_t> bins = column(j);
        const std::size_t lane = j - panel_begin(p);
        for (std::size_t i = begin; i < end; ++i) records[i].bins[lane] = bins[i];
      }
    }
  });
}

}  // namespace podere::tree
