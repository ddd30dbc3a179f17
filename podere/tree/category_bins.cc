#include "podere/tree/category_bins.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "podere/base/error.h"
#include "podere/base/parallel.h"

namespace podere::tree {
namespace {

/// The largest code plus one of a feature's rows that are held here.
std::uint64_t count_codes(const table::Table& table, std::size_t feature) {
  const std::span<const float> values = table.feature(feature);
  float largest = -1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float value = values[i];
    if (value != value) continue;
    if (!(value >= 0 && value < static_cast<float>(table::kMaxCategories)) || value != std::trunc(value)) {
      throw_input_error("training data: {} of row {} is {}, allowed is the code of a category, 0 to {}",
                        table.schema().features[feature], table.global({i}).value, value, table::kMaxCategories - 1);
    }
    largest = std::max(largest, value);
  }
  return static_cast<std::uint64_t>(largest + 1);
}

void count_rows(std::span<const float> values, std::span<const std::uint8_t> is_used, std::span<std::uint64_t> counts) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (is_used[i] != 0 && values[i] == values[i]) ++counts[static_cast<std::size_t>(values[i])];
  }
}

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

void find_category_bins(const table::Table& table, std::span<const std::uint8_t> is_used, int max_bins,
                        const comm::Communicator& comm, int n_threads, std::span<FeatureCuts> features) {
  std::vector<std::size_t> columns;
  for (const auto& [feature, dictionary] : table.schema().categories) columns.push_back(feature);
  if (columns.empty()) return;

  std::vector<std::uint64_t> n_codes(columns.size());
  comm.agree([&] {
    parallel_for(n_threads, columns.size(), [&](std::size_t c, int) { n_codes[c] = count_codes(table, columns[c]); });
  });
  comm.all_reduce(std::span(n_codes), comm::Reduction::kMax);

  std::vector<std::size_t> begin(columns.size() + 1);
  std::partial_sum(n_codes.begin(), n_codes.end(), begin.begin() + 1);
  std::vector<std::uint64_t> counts(begin.back());
  const auto counts_of = [&](std::size_t c) { return std::span(counts).subspan(begin[c], n_codes[c]); };
  parallel_for(n_threads, columns.size(),
               [&](std::size_t c, int) { count_rows(table.feature(columns[c]), is_used, counts_of(c)); });
  comm.all_reduce(std::span(counts), comm::Reduction::kSum);

  const auto n_bins = static_cast<std::size_t>(std::max(1, max_bins - 2));  // but for all others and missing values
  parallel_for(n_threads, columns.size(), [&](std::size_t c, int) {
    FeatureCuts& feature = features[columns[c]];
    feature.cuts = choose_codes(counts_of(c), n_bins);
    feature.is_categorical = true;
  });
}

}  // namespace podere::tree
