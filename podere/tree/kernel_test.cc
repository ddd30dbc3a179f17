// Every kernel against a plain reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "podere/tree/binned.h"
#include "podere/tree/gradient.h"
#include "podere/tree/histogram.h"
#include "podere/tree/histogram_kernel.h"
#include "podere/tree/partition.h"
#include "podere/tree/plain_histogram.h"
#include "podere/tree/quantize.h"
#include "podere/tree/split_kernel.h"
#include "podere/tree/test_tables.h"

namespace podere::tree {
namespace {

std::vector<std::uint32_t> all_rows(std::size_t n) {
  std::vector<std::uint32_t> rows(n);
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

std::vector<FeatureCuts> cuts_of_table(const table::Table& table, int max_bins) {
  return find_cuts(table::HeldRows(table), std::vector<std::uint8_t>(table.n_rows(), 1), max_bins, 0, alone(), 1);
}

TEST(CellTest, PackedSumsComeApartAgain) {
  for (const std::int64_t g : {-2147483647LL, -5LL, -1LL, 0LL, 1LL, 2147483647LL}) {
    for (const std::int64_t h : {-2147483647LL, -1LL, 0LL, 3LL, 2147483647LL}) {
      const CellSums sums = unpack_cell(pack_cell(g, h));
      EXPECT_EQ(sums.g, g);
      EXPECT_EQ(sums.h, h);
    }
  }
}

TEST(FlushTest, PackedCellsAreAddedToWideOnesAndCleared) {
  std::vector<std::int32_t> packed;
  std::vector<std::int64_t> wide;
  std::vector<std::int64_t> expected;
  for (const int g : {-32767, -1, 0, 1, 32767}) {
    for (const int h : {-32767, -1, 0, 1, 32767}) {
      packed.push_back(g * 65536 + h);
      wide.push_back(pack_cell(100000, -7));
      expected.push_back(pack_cell(100000 + g, -7 + h));
    }
  }
  const std::vector<std::int32_t> as_they_were = packed;
  flush_lane(packed.data(), packed.size(), false, wide.data());
  EXPECT_EQ(wide, expected);
  EXPECT_EQ(packed, std::vector<std::int32_t>(packed.size(), 0));

  packed = as_they_were;
  flush_lane(packed.data(), packed.size(), true, wide.data());
  for (std::int64_t& cell : expected) cell -= pack_cell(100000, -7);
  EXPECT_EQ(wide, expected);
}

TEST(FlushTest, WideCellsAreAddedToOthersOrTakeTheirPlace) {
  const std::vector<std::int64_t> from{1, -2, std::int64_t{3} << 32, -(std::int64_t{5} << 32) + 7, 0};
  std::vector<std::int64_t> to{10, 20, 30, 40, 50};
  add_cells(from.data(), 4, false, to.data());
  EXPECT_EQ(to, (std::vector<std::int64_t>{11, 18, (std::int64_t{3} << 32) + 30, -(std::int64_t{5} << 32) + 47, 50}));
  add_cells(from.data(), 4, true, to.data());
  EXPECT_EQ(to, (std::vector<std::int64_t>{from[0], from[1], from[2], from[3], 50}));
}

TEST(FlushTest, SumsOfNarrowWordsComeApartIntoWideCells) {
  constexpr std::int32_t kRanks = 3;
  const auto share = [](std::int32_t sum, std::int32_t rank) {
    return rank == 0 ? sum - sum / kRanks * 2 : sum / kRanks;
  };
  const std::vector<std::int32_t> sums{-32767, -1, 0, 1, 32767};  // to both ends of 16 bits
  for (const std::size_t n_bins : {1, 2, 7, 8, 255, 256}) {
    std::vector<std::int64_t> words(narrow_words(n_bins));
    std::vector<std::int64_t> expected;
    for (std::size_t b = 0; b < n_bins; ++b) expected.push_back(pack_cell(sums[b % 5], sums[b / 5 % 5]));
    for (std::int32_t rank = 0; rank < kRanks; ++rank) {
      std::vector<std::int32_t> packed(kCellsPerLane);
      for (std::size_t b = 0; b < n_bins; ++b) {
        packed[b] = share(sums[b % 5], rank) * 65536 + share(sums[b / 5 % 5], rank);
      }
      std::vector<std::int64_t> own(words.size(), -1);
      flush_lane_narrow(packed.data(), n_bins, own.data());
      EXPECT_EQ(packed, std::vector<std::int32_t>(kCellsPerLane, 0));
      for (std::size_t w = 0; w < words.size(); ++w) words[w] += own[w];
    }
    std::vector<std::int64_t> wide(n_bins + 1, -7);
    widen_lane(words.data(), n_bins, wide.data());
    EXPECT_EQ(wide.back(), -7) << "beyond " << n_bins << " bins";
    wide.pop_back();
    EXPECT_EQ(wide, expected) << n_bins << " bins";
  }
}

/// Derivatives of the loss by differences, for one row at margin `m` of output `k`.
Gradient finite_difference(Objective objective, std::vector<float> margins, float label, float weight, std::size_t k) {
  const double step = objective == Objective::kSquaredError ? 0.25 : 0.0625;
  const std::vector<float> labels{label};
  const std::vector<float> weights{weight};
  const LabeledRows rows{labels, weights, /*weight_sum=*/1, /*max_abs_weight=*/std::abs(weight)};
  const auto loss = [&](double shift) {
    std::vector<float> shifted = margins;
    shifted[k] += static_cast<float>(shift);
    Gradients gradients;
    compute_gradients({.objective = objective}, rows, shifted, margins.size(), alone(), 1, gradients);
    return gradients.loss;
  };
  return {static_cast<float>((loss(step) - loss(-step)) / (2 * step)),
          static_cast<float>((loss(step) - 2 * loss(0) + loss(-step)) / (step * step))};
}

/// Of a difference quotient for an exponential or a logistic curve.
double tolerance(double value) { return 5e-3 + 2e-3 * std::abs(value); }

TEST(GradientTest, DerivativesAgreeWithFiniteDifferences) {
  for (const Objective objective :
       {Objective::kBinaryLogistic, Objective::kSoftmax, Objective::kSquaredError, Objective::kPoisson}) {
    const std::size_t n_outputs = objective == Objective::kSoftmax ? 3 : 1;
    for (const float margin : {-3.0F, -0.5F, 0.0F, 1.25F, 4.0F}) {
      for (const float label : {0.0F, 1.0F}) {
        for (const float weight : {1.0F, 2.5F, -0.5F}) {
          std::vector<float> margins{margin, 0.5F, -1.0F};
          margins.resize(n_outputs);
          const std::vector<float> labels{label};
          const std::vector<float> weights{weight};
          const LabeledRows rows{labels, weights, 1, std::abs(weight)};
          Gradients gradients;
          compute_gradients({.objective = objective}, rows, margins, n_outputs, alone(), 1, gradients);
          for (std::size_t k = 0; k < n_outputs; ++k) {
            const Gradient expected = finite_difference(objective, margins, label, weight, k);
            EXPECT_NEAR(gradients.values[k].g, expected.g, tolerance(expected.g) / 2)
                << to_string(objective) << " " << margin;
            // As XGBoost does, softmax takes twice the second derivative: a safer step for coupled outputs.
            // So is the largest of Poisson's on the way that a step may take.
            const double factor = objective == Objective::kSoftmax   ? 2
                                  : objective == Objective::kPoisson ? std::exp(Options().max_delta_step)
                                                                     : 1;
            EXPECT_NEAR(gradients.values[k].h, factor * expected.h, tolerance(expected.h))
                << to_string(objective) << " " << margin;
            EXPECT_LE(std::abs(gradients.values[k].g), gradients.max_abs_g);
            EXPECT_LE(std::abs(gradients.values[k].h), gradients.max_abs_h);
          }
        }
      }
    }
  }
}

TEST(GradientTest, OfAQuantileIsTheSlopeOnEitherSideOfTheLabel) {
  const std::vector<float> labels{2, 2, 2, 2};
  const std::vector<float> weights{1, 1, 3, -1};
  const std::vector<float> margins{1, 2, 4, 0};
  Gradients gradients;
  compute_gradients({.objective = Objective::kQuantile, .quantile = 0.75}, {labels, weights, 4, 3}, margins, 1, alone(),
                    1, gradients);
  const std::vector<float> slopes{-0.75F, 0.25F, 0.75F, 0.75F};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(gradients.values[i].g, slopes[i]) << i;
    EXPECT_EQ(gradients.values[i].h, weights[i]) << i;
  }
  EXPECT_EQ(gradients.loss, (0.75 + 0 + 3 * 0.25 * 2 - 0.75 * 2) / 4);
}

TEST(GradientTest, ExtremeMarginsStayFinite) {
  const std::vector<float> labels{0, 1, 0, 1};
  const std::vector<float> weights(4, 1.0F);
  const std::vector<float> margins{-1e30F, -1e30F, 1e4F, 1e4F};
  Gradients gradients;
  compute_gradients({.objective = Objective::kBinaryLogistic}, {labels, weights, 4, 1}, margins, 1, alone(), 1,
                    gradients);
  for (const Gradient& gradient : gradients.values) {
    EXPECT_TRUE(std::isfinite(gradient.g));
    EXPECT_GT(gradient.h, 0);
  }
  EXPECT_EQ(gradients.values[1].g, -1.0F);
}

TEST(QuantizeTest, RoundingIsRightOnAverageAndWithinTheLevels) {
  const std::size_t n = 20000;
  const table::Table table = random_table({.n_rows = n, .n_features = 1}, alone());
  BinnedRows binned(table::HeldRows(table), cuts_of_table(table, 16), 1);
  Gradients gradients{.values = std::vector<Gradient>(n, {0.33F, 0.21F}), .max_abs_g = 1, .max_abs_h = 0.25};
  gradients.values[0] = {1.0F, 0.25F};
  gradients.values[1] = {-1.0F, -0.25F};
  const Quantization quantization = choose_quantization(gradients, n);
  const std::vector<std::uint32_t> rows = all_rows(n);
  const CellSums total = unpack_cell(quantize_gradients(gradients.values, rows, {0, n}, quantization, 7, 2, binned));
  EXPECT_NEAR(total.g * quantization.g_unit, 0.33 * (n - 2), 4 * quantization.g_unit * std::sqrt(0.25 * n));
  EXPECT_NEAR(total.h * quantization.h_unit, 0.21 * (n - 2), 4 * quantization.h_unit * std::sqrt(0.25 * n));
  EXPECT_EQ(binned.panel(0)[0].gradient, quantization.levels * 65536 + quantization.levels);
  EXPECT_EQ(binned.panel(0)[1].gradient, -quantization.levels * 65536 - quantization.levels);
}

TEST(QuantizeTest, CellsCannotOverflowForAnyNumberOfRows) {
  const Gradients gradients{.values = {}, .max_abs_g = 1, .max_abs_h = 1};
  for (const std::uint64_t n : {1ULL, 100'000ULL, 1'000'000'000ULL, 2'147'483'647ULL}) {
    const Quantization quantization = choose_quantization(gradients, n);
    EXPECT_GE(quantization.levels, 1);
    EXPECT_LT(static_cast<std::uint64_t>(quantization.levels) * n, 1ULL << 31);
    EXPECT_LE(quantization.rows_per_flush() * quantization.levels, 32767);
  }
  EXPECT_THROW(choose_quantization(gradients, 2'147'483'648ULL), std::exception);
}

class HistogramTest : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(FeatureCounts, HistogramTest, testing::Values(1, 3, 4, 27, 28, 29, 30, 57, 90));

TEST_P(HistogramTest, CellsEqualThePlainSumsForEveryPanelWidth) {
  const std::size_t n = 40001;  // several flushes and several tasks a node
  const table::Table table = random_table({.n_rows = n, .n_features = GetParam(), .has_missing = true}, alone());
  BinnedRows binned(table::HeldRows(table), cuts_of_table(table, 256), 2);
  Gradients gradients{.values = std::vector<Gradient>(n), .max_abs_g = 1, .max_abs_h = 0.25};
  for (std::size_t i = 0; i < n; ++i) {
    gradients.values[i] = {static_cast<float>(std::sin(static_cast<double>(i))),
                           static_cast<float>(0.25 / static_cast<double>(1 + i % 3))};
  }
  const Quantization quantization = choose_quantization(gradients, n);
  const std::vector<std::uint32_t> rows = all_rows(n);
  quantize_gradients(gradients.values, rows, {0, n}, quantization, 1, 2, binned);
  const HistogramLayout layout(binned, 1);
  const std::span<const std::uint32_t> span(rows);
  const std::vector<NodeRows> nodes{{span.first(39000), 39000}, {span.subspan(39000, 0), 0}, {span.last(101), 101}};
  const std::vector<std::uint8_t> panel_is_used(binned.n_panels(), 1);
  HistogramMemory memory;
  const auto build = [&] {
    memory.clear();
    return build_histograms(binned, layout, nodes, panel_is_used, quantization, alone(), 2, memory);
  };
  build();
  const std::span<const std::int64_t> cells = build();  // in memory that is not zero
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    for (std::size_t j = 0; j < binned.n_features(); ++j) {
      const std::vector<std::int64_t> expected = plain_histogram(binned, nodes[node].rows, j);
      const auto first = cells.begin() + static_cast<std::ptrdiff_t>(node * layout.width(0) + layout.offset(j));
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), first)) << "feature " << j << " of node " << node;
    }
  }
}

TEST(HistogramLayoutTest, EveryFeatureHasOneOwnerAndWordsDoNotOverlap) {
  const table::Table table = random_table({.n_rows = 300, .n_features = 11, .has_missing = true}, alone());
  const BinnedRows binned(table::HeldRows(table), cuts_of_table(table, 64), 1);
  for (const int n_ranks : {1, 2, 3, 5, 11, 20}) {
    const HistogramLayout layout(binned, n_ranks);
    std::size_t next_feature = 0;
    for (int rank = 0; rank < n_ranks; ++rank) {
      EXPECT_EQ(layout.features_of(rank).begin, next_feature);
      next_feature = layout.features_of(rank).end;
    }
    EXPECT_EQ(next_feature, 11);
    const HistogramMessage message(layout, {0, 1, 0, 1, 1});
    std::vector<int> uses(message.n_words());
    for (int rank = 0; rank < n_ranks; ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      for (std::size_t j = layout.features_of(rank).begin; j < layout.features_of(rank).end; ++j) {
        for (std::size_t node = 0; node < 5; ++node) {
          const auto n_bins = static_cast<std::size_t>(binned.cuts(j).n_bins());
          const std::size_t n_words = message.is_narrow(node) ? narrow_words(n_bins) : n_bins;
          EXPECT_GE(message.word(j, node), message.start(r));
          EXPECT_LE(message.word(j, node) + n_words, message.start(r) + message.counts()[r]);
          for (std::size_t w = 0; w < n_words; ++w) ++uses[message.word(j, node) + w];
        }
      }
    }
    EXPECT_EQ(uses, std::vector<int>(uses.size(), 1)) << n_ranks << " ranks";
  }
}

TEST(HistogramLayoutTest, OwnersHaveEvenSharesAndAreSpreadOverManyRanks) {
  const table::Table table = random_table({.n_rows = 3000, .n_features = 12}, alone());
  const BinnedRows binned(table::HeldRows(table), cuts_of_table(table, 64), 1);
  const std::size_t n_cells = HistogramLayout(binned, 1).width(0);
  for (const int n_ranks : {2, 3, 4, 6, 12}) {
    const HistogramLayout layout(binned, n_ranks);
    for (int rank = 0; rank < n_ranks; ++rank) {
      EXPECT_NEAR(static_cast<double>(layout.width(rank)), static_cast<double>(n_cells) / n_ranks, 64) << n_ranks;
    }
  }
  const HistogramLayout layout(binned, 48);
  for (int first = 0; first < 48; first += 12) {
    std::size_t n_owned = 0;
    for (int rank = first; rank < first + 12; ++rank) {
      n_owned += layout.features_of(rank).end - layout.features_of(rank).begin;
    }
    EXPECT_NEAR(static_cast<double>(n_owned), 3, 1) << "ranks from " << first;
  }
}

/// The best split by looking at each one in turn.
Split plain_best_split(std::span<const std::int64_t> cells, const FeatureCuts& cuts, const SplitRule& rule) {
  const auto score = [&](double g, double h) { return g * g / (h + rule.lambda); };
  double g_all = 0;
  double h_all = 0;
  for (const std::int64_t cell : cells) {
    g_all += unpack_cell(cell).g * rule.g_unit;
    h_all += unpack_cell(cell).h * rule.h_unit;
  }
  Split best;
  for (const bool missing_left : {false, true}) {
    if (missing_left && !cuts.has_missing) continue;
    for (std::size_t b = 0; b < cuts.cuts.size(); ++b) {
      double g = 0;
      double h = 0;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const bool is_missing = static_cast<int>(i) == cuts.missing_bin();
        if (is_missing ? !missing_left : i > b) continue;
        g += unpack_cell(cells[i]).g * rule.g_unit;
        h += unpack_cell(cells[i]).h * rule.h_unit;
      }
      if (h <= 0 || h_all - h <= 0 || h < rule.min_child_weight || h_all - h < rule.min_child_weight) continue;
      const double gain = score(g, h) + score(g_all - g, h_all - h) - score(g_all, h_all);
      if (gain > best.gain + 1e-9) best = {gain, 0, 0, static_cast<std::int16_t>(b), missing_left};
    }
  }
  return best;
}

TEST(SplitTest, TheBestSplitIsTheOneThatTryingAllFinds) {
  RandomSequence random(3, 0, 0);
  for (int trial = 0; trial < 500; ++trial) {
    FeatureCuts cuts{.cuts = std::vector<float>(random.next() % 20), .has_missing = random.next() % 2 == 0};
    std::vector<std::int64_t> cells;
    std::int64_t total = 0;
    for (int b = 0; b < cuts.n_bins(); ++b) {
      const auto g = static_cast<std::int64_t>(random.next() % 2001) - 1000;
      const auto h = static_cast<std::int64_t>(random.next() % 100) - (random.next() % 10 == 0 ? 60 : 0);
      total += cells.emplace_back(pack_cell(g, h));
    }
    const SplitRule rule{.g_unit = 0.01, .h_unit = 0.02, .lambda = 1, .min_child_weight = trial % 3 * 2.0};
    if (!(unpack_cell(total).h > 0)) continue;
    const Split found = best_split(cells, total, cuts, 0, rule);
    const Split expected = plain_best_split(cells, cuts, rule);
    ASSERT_NEAR(found.gain, expected.gain, 1e-6) << "trial " << trial;
    if (!found.is_found()) continue;
    EXPECT_EQ(found.bin, expected.bin) << "trial " << trial;
    EXPECT_EQ(found.missing_left, expected.missing_left) << "trial " << trial;
  }
}

TEST(SplitTest, AFeatureWithoutCutsOrANodeWithoutGainIsNotSplit) {
  const SplitRule rule{.g_unit = 1, .h_unit = 1, .lambda = 1, .min_child_weight = 0};
  EXPECT_FALSE(best_split(std::vector<std::int64_t>{pack_cell(5, 5)}, pack_cell(5, 5), {}, 0, rule).is_found());
  const std::vector<std::int64_t> even{0, 0};
  EXPECT_FALSE(best_split(even, 0, {.cuts = {1.0F}}, 0, rule).is_found());
}

TEST(PartitionTest, LeftRowsComeFirstAndOrderIsKept) {
  const std::size_t n = 170011;  // two nodes are cut into runs, two are parted where they lie
  const table::Table table = random_table({.n_rows = n, .n_features = 30, .has_missing = true}, alone());
  const BinnedRows binned(table::HeldRows(table), cuts_of_table(table, 64), 1);
  for (const std::size_t feature : {0, 29}) {
    for (const bool missing_left : {false, true}) {
      std::vector<std::uint32_t> rows = all_rows(n);
      std::vector<std::uint32_t> expected = rows;
      std::vector<std::uint32_t> scratch(n);
      Split split{.gain = 1,
                  .left_cell = 0,
                  .feature = static_cast<std::int32_t>(feature),
                  .bin = 20,
                  .missing_left = missing_left};
      const std::vector<Parting> partings{
          {{0, 80000}, split}, {{80000, 80000}, split}, {{80001, 90000}, split}, {{90000, n}, split}};
      const std::vector<std::size_t> n_left = partition_rows(binned, partings, 2, rows, scratch);
      for (std::size_t p = 0; p < partings.size(); ++p) {
        const auto begin = expected.begin() + static_cast<std::ptrdiff_t>(partings[p].rows.begin);
        const auto end = expected.begin() + static_cast<std::ptrdiff_t>(partings[p].rows.end);
        const auto middle = std::stable_partition(begin, end, [&](std::uint32_t row) {
          const float value = table.feature(feature)[row];
          return value != value ? missing_left : value < binned.cuts(feature).cuts[20];
        });
        EXPECT_EQ(n_left[p], static_cast<std::size_t>(middle - begin));
      }
      EXPECT_EQ(rows, expected);
    }
  }
}

}  // namespace
}  // namespace podere::tree
