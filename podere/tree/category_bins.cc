#include "podere/tree/category_bins.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "podere/base/error.h"
#include "podere/base/parallel.h"

namespace podere::tree {
namespace {

/// The codes that get bins, in the order of the bins.
std::vector<float> choose_codes(std::span<const std::uint64_t> counts, std::size_t n_bins) {
  std::vector<std::uint32_t> codes;
  for (std::size_t code = 0; code < counts.size(); ++code) {
    if (counts[code] > 0) codes.push_back(static_cast<std::uint32_t>(code));
  }
  std::ranges::stable_sort(codes, std::greater(), [&](std::uint32_t code) { return counts[code]; });
  codes.resize(std::min(codes.size(), n_bins));
  return {codes.begin(), codes.end()};
}

}  // namespace

bool is_code(float value) {
  return value >= 0 && value < static_cast<float>(table::kMaxCategories) && value == std::trunc(value);
}

void throw_is_no_code(const table::Table& table, std::size_t feature, table::LocalRow row) {
  throw_input_error("training data: {} of row {} is {}, allowed is the code of a category, 0 to {}",
                    table.schema().features[feature], table.global(row).value, table.feature(feature)[row.value],
                    table::kMaxCategories - 1);
}

CategoryCounts::CategoryCounts(const table::Schema& schema) {
  for (const auto& [feature, dictionary] : schema.categories) columns_.push_back({feature, {}});
}

void CategoryCounts::take(const table::Table& window, std::span<const std::uint8_t> is_used, int n_threads) {
  parallel_for(n_threads, columns_.size(), [&](std::size_t c, int) {
    auto& [feature, counts] = columns_[c];
    const std::span<const float> values = window.feature(feature);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float value = values[i];
      if (value != value) continue;
      if (!is_code(value)) throw_is_no_code(window, feature, {i});
      const auto code = static_cast<std::size_t>(value);
      if (code >= counts.size()) counts.resize(code + 1);
      if (is_used[i] != 0) ++counts[code];
    }
  });
}

void CategoryCounts::find_bins(int max_bins, const comm::Communicator& comm, int n_threads,
                               std::span<FeatureCuts> features) const {
  if (columns_.empty()) return;
  std::vector<std::uint64_t> n_codes;
  for (const Column& column : columns_) n_codes.push_back(column.counts.size());
  comm.all_reduce(std::span(n_codes), comm::Reduction::kMax);

  std::vector<std::size_t> begin(columns_.size() + 1);
  std::partial_sum(n_codes.begin(), n_codes.end(), begin.begin() + 1);
  std::vector<std::uint64_t> counts(begin.back());
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::ranges::copy(columns_[c].counts, counts.begin() + static_cast<std::ptrdiff_t>(begin[c]));
  }
  comm.all_reduce(std::span(counts), comm::Reduction::kSum);

  const auto n_bins = static_cast<std::size_t>(std::max(1, max_bins - 2));  // but for all others and missing values
  parallel_for(n_threads, columns_.size(), [&](std::size_t c, int) {
    FeatureCuts& feature = features[columns_[c].feature];
    feature.cuts = choose_codes(std::span(counts).subspan(begin[c], n_codes[c]), n_bins);
    feature.is_categorical = true;
  });
}

}  // namespace podere::tree
