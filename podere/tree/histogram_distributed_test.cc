// Histograms of rows on several ranks against sums on one.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "podere/base/hash.h"
#include "podere/tree/histogram.h"
#include "podere/tree/plain_histogram.h"
#include "podere/tree/test_tables.h"

namespace podere::tree {
namespace {

/// One row in so many is at the ends of what quantized gradients can be: g = levels, h = -levels.
constexpr std::uint64_t kStride = 23;

/// Rows whose quantized g and h take all values from -levels to levels: weights may be negative.
BinnedRows bin(const table::Table& table, std::vector<FeatureCuts> cuts, const Quantization& quantization) {
  std::vector<Gradient> gradients;
  for (std::uint64_t row = table.rows().begin; row < table.rows().end; ++row) {
    const auto draw = [&](std::uint64_t stream) {
      return 2 * static_cast<float>(uniform01(hash64(5, stream, row))) - 1;
    };
    gradients.push_back(row % kStride == 0 ? Gradient{1, -1} : Gradient{draw(1), draw(2)});
  }
  BinnedRows binned(table::HeldRows(table), std::move(cuts), 1);
  std::vector<std::uint32_t> rows(table.n_rows());
  std::iota(rows.begin(), rows.end(), 0);
  quantize_gradients(gradients, rows, table.rows(), quantization, 3, 1, binned);
  return binned;
}

TEST(HistogramDistributedTest, CellsOfWideAndNarrowNodesEqualThePlainSumsOfAllRows) {
  const RandomTable want{.n_rows = 6000, .n_features = 33};
  const table::Table whole = random_table(want, alone());
  const table::Table part = random_table(want, world());
  const Gradients bounds{.values = {}, .max_abs_g = 1, .max_abs_h = 1};
  const Quantization quantization = choose_quantization(bounds, want.n_rows);
  const auto most = static_cast<std::size_t>(quantization.rows_per_flush());
  ASSERT_LT(most * kStride, want.n_rows);
  std::vector<FeatureCuts> cuts =
      find_cuts(table::HeldRows(whole), std::vector<std::uint8_t>(want.n_rows, 1), 61, 0, alone(), 1);
  cuts[0].cuts = {2.0F};  // above all values: the cell of bin 0 has all rows of a node
  const BinnedRows all = bin(whole, cuts, quantization);
  const BinnedRows own = bin(part, cuts, quantization);

  // Nodes with as many rows as are just narrow, all at the ends, with one more, none, one, and all that are left.
  std::vector<std::uint32_t> order(want.n_rows);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [](auto a, auto b) { return a % kStride < b % kStride; });
  std::vector<std::vector<std::uint32_t>> rows_of_all;
  std::vector<std::vector<std::uint32_t>> rows_of_own;
  auto next = order.begin();
  for (const std::size_t n : {most, most + 1, std::size_t{0}, std::size_t{1}, want.n_rows - 2 * most - 2}) {
    rows_of_all.emplace_back(n);
    rows_of_own.emplace_back();
    for (std::uint32_t& r : rows_of_all.back()) {
      r = *next++;
      if (part.rows().begin <= r && r < part.rows().end) {
        rows_of_own.back().push_back(r - static_cast<std::uint32_t>(part.rows().begin));
      }
    }
  }
  std::vector<NodeRows> nodes;
  for (std::size_t n = 0; n < rows_of_all.size(); ++n) nodes.push_back({rows_of_own[n], rows_of_all[n].size()});

  const HistogramLayout layout(own, world().size());
  HistogramMemory memory;
  const std::vector<std::uint8_t> panel_is_used(own.n_panels(), 1);
  const std::span<const std::int64_t> cells =
      build_histograms(own, layout, nodes, panel_is_used, quantization, world(), 2, memory);
  const Slice features = layout.features_of(world().rank());
  ASSERT_EQ(cells.size(), nodes.size() * layout.width(world().rank()));
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    for (std::size_t j = features.begin; j < features.end; ++j) {
      const std::vector<std::int64_t> expected = plain_histogram(all, rows_of_all[n], j);
      const std::size_t first = n * layout.width(world().rank()) + layout.offset(j);
      const auto found = cells.subspan(first, expected.size());
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), found.begin())) << "feature " << j << " of node " << n;
    }
  }
}

}  // namespace
}  // namespace podere::tree
