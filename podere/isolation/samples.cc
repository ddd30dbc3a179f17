#include "podere/isolation/samples.h"

#include <algorithm>
#include <span>
#include <unordered_set>

#include "podere/base/hash.h"
#include "podere/isolation/streams.h"
#include "podere/tree/category_bins.h"

namespace podere::isolation {
namespace {

float value_of(const table::Table& window, std::size_t feature, table::LocalRow row) {
  const float value = window.feature(feature)[row.value];
  const bool may_be_no_code = window.schema().is_categorical(feature) && value == value;
  if (may_be_no_code && !tree::is_code(value)) tree::throw_is_no_code(window, feature, row);
  return value;
}

}  // namespace

// Floyd's algorithm. Source: J. Bentley, "Programming Pearls: A Sample of Brilliance", CACM 30 (1987).
std::vector<std::uint64_t> rows_of_tree(std::uint64_t seed, std::size_t tree, std::uint64_t n_rows, std::size_t n) {
  RandomSequence random(seed, kSampleStream, tree);
  std::unordered_set<std::uint64_t> chosen;
  for (std::uint64_t last = n_rows - n; last < n_rows; ++last) {
    const auto row = static_cast<std::uint64_t>(random.uniform() * static_cast<double>(last + 1));
    if (!chosen.insert(row).second) chosen.insert(last);
  }
  std::vector<std::uint64_t> rows(chosen.begin(), chosen.end());
  std::ranges::sort(rows);
  return rows;
}

Samples gather_samples(const table::RowSource& rows, std::uint64_t seed, std::size_t first, std::size_t n_trees,
                       std::size_t n, const comm::Communicator& comm) {
  std::vector<std::vector<std::uint64_t>> of_tree;
  std::vector<std::uint64_t> all;  // rising, each once
  for (std::size_t t = first; t < first + n_trees; ++t) {
    of_tree.push_back(rows_of_tree(seed, t, rows.labels().n_global_rows(), n));
    all.insert(all.end(), of_tree.back().begin(), of_tree.back().end());
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());

  std::vector<float> here;
  comm.agree([&] {
    rows.for_each_window([&](const table::Table& window) {
      const auto begin = std::ranges::lower_bound(all, window.rows().begin);
      for (auto row = begin; row != all.end() && *row < window.rows().end; ++row) {
        const auto i = static_cast<std::size_t>(*row - window.rows().begin);
        for (std::size_t j = 0; j < window.n_features(); ++j) here.push_back(value_of(window, j, {i}));
      }
    });
  });
  // Ranks hold rows in their order, so what they have one after the other is in the order of `all`.
  Samples samples{rows.schema().features.size(), comm.all_gather_v(std::span<const float>(here)), {}};
  for (const auto& wanted : of_tree) {
    auto& places = samples.places.emplace_back();
    for (const std::uint64_t row : wanted) {
      places.push_back(static_cast<std::uint32_t>(std::ranges::lower_bound(all, row) - all.begin()));
    }
  }
  return samples;
}

}  // namespace podere::isolation
