// Training on features of categories, from bins to predictions.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "podere/base/test_numbers.h"
#include "podere/tree/binned.h"
#include "podere/tree/category_bins.h"
#include "podere/tree/predict.h"
#include "podere/tree/streams.h"
#include "podere/tree/test_training.h"

namespace podere::tree {
namespace {

const std::map<std::size_t, table::Dictionary> kFirstIsCategorical = {{0, std::nullopt}};

std::vector<FeatureCuts> cuts_of(const table::Table& table, int max_bins) {
  return find_cuts(table::HeldRows(table), std::vector<std::uint8_t>(table.n_rows(), 1), max_bins, 1, alone(), 2);
}

/// A regression tree that can fit what its table says exactly.
const Options kExact{.objective = Objective::kSquaredError,
                     .n_trees = 1,
                     .depth = 8,
                     .learning_rate = 1,
                     .lambda = 0,
                     .min_child_weight = 0};

TEST(CategoryBinsTest, TheMostFrequentCategoriesHaveBinsAndTheRestShareOne) {
  const std::vector<float> codes = {7, 7, 7, 2, 2, 9, 9, 4, kNaN};
  const table::Table table = make_table({codes}, std::vector<float>(codes.size()), {}, kFirstIsCategorical);
  const FeatureCuts all = cuts_of(table, 256)[0];
  EXPECT_EQ(all.cuts, (std::vector<float>{7, 2, 9, 4}));
  EXPECT_EQ(all.n_bins(), 6);
  const FeatureCuts some = cuts_of(table, 4)[0];
  EXPECT_EQ(some.cuts, (std::vector<float>{7, 2}));
  const BinnedRows binned(table::HeldRows(table), {some}, 1);
  const std::span<const std::uint8_t> bins = binned.column(0);
  EXPECT_EQ(std::vector<int>(bins.begin(), bins.end()), (std::vector<int>{0, 0, 0, 1, 1, 2, 2, 2, 3}));
}

TEST(CategoryBinsTest, RowsThatAreNotUsedDoNotCount) {
  const table::Table table = make_table({{5, 5, 5, 1, 0}}, std::vector<float>(5), {}, kFirstIsCategorical);
  const std::vector<std::uint8_t> is_used = {0, 0, 0, 1, 1};
  EXPECT_EQ(find_cuts(table::HeldRows(table), is_used, 16, 1, alone(), 1)[0].cuts, (std::vector<float>{0, 1}));
}

TEST(CategoryBinsTest, ThreeHundredCategoriesFitInto256Bins) {
  std::vector<float> codes;
  for (std::size_t code = 0; code < 300; ++code) codes.insert(codes.end(), 1 + code, static_cast<float>(code));
  const table::Table table = make_table({codes}, std::vector<float>(codes.size()), {}, kFirstIsCategorical);
  const FeatureCuts cuts = cuts_of(table, 256)[0];
  EXPECT_EQ(cuts.n_bins(), 255);  // none is missing
  EXPECT_EQ(cuts.cuts.front(), 299);
  EXPECT_EQ(cuts.cuts.back(), 46);
}

/// Each of 300 categories has its value; the rarest 46 have one value together.
table::Table many_categories() {
  std::vector<float> codes;
  std::vector<float> label;
  for (std::size_t code = 0; code < 300; ++code) {
    codes.insert(codes.end(), 1 + code, static_cast<float>(code));
    label.insert(label.end(), 1 + code, code < 46 ? 1000.0F : static_cast<float>(hash64(1, 0, code) % 1000));
  }
  return make_table({codes}, label, {}, kFirstIsCategorical);
}

TEST(CategoriesTest, EveryCategoryIsLearnedAndTheRarestAlike) {
  const table::Table table = many_categories();
  Options options = kExact;
  options.depth = 30;
  options.n_trees = 5;
  const Model model = train_alone(table, options);
  const std::vector<float> predicted = predict(model, table, 1);
  for (std::size_t i = 0; i < table.n_rows(); ++i) ASSERT_NEAR(predicted[i], table.label()[i], 0.5) << i;
  // The rare ones are split from the others without being named.
  for (const Tree& tree : model.trees) {
    for (const auto& set : tree.category_sets) EXPECT_GE(*std::ranges::min_element(set), 46);
  }
}

TEST(CategoriesTest, TrainingSeesTheLossOfThePredictions) {
  // Of rows in the sample of a round, and of those that are not; categories with and without a bin of their own.
  const table::Table table = random_table({.has_missing = true, .n_categories = 90}, alone());
  const Model model = train_alone(table, {.n_trees = 10, .depth = 6, .bins = 50, .subsample = 0.6}, &table);
  EXPECT_GT(importance(model).split.back(), 10);
  EXPECT_NEAR(model.history.validation_loss.back(), model.history.train_loss.back(), 1e-6);
}

TEST(CategoriesTest, ACategoryThatWasNotTrainedGoesWithTheLargerSide) {
  const table::Table table = make_table({{0, 0, 1, 1, 2, 2, 3, 3}}, {0, 0, 0, 0, 0, 0, 9, 9}, {}, kFirstIsCategorical);
  const Model model = train_alone(table, kExact);
  const table::Table other = make_table({{8, 3, kNaN}}, {0, 0, 0}, {}, kFirstIsCategorical);
  const std::vector<float> predicted = predict(model, other, 1);
  EXPECT_NEAR(predicted[0], 0, 1e-5);
  EXPECT_NEAR(predicted[1], 9, 1e-5);
  EXPECT_NEAR(predicted[2], 0, 1e-5) << "nothing was missing in training";
}

TEST(CategoriesTest, MissingIsSplitFromAllCategories) {
  const table::Table table =
      make_table({{kNaN, 0, 1, kNaN, 0, 1, 0, 1}}, {5, 0, 0, 5, 0, 0, 0, 0}, {}, kFirstIsCategorical);
  const Model model = train_alone(table, kExact);
  const std::vector<float> predicted = predict(model, table, 1);
  for (std::size_t i = 0; i < table.n_rows(); ++i) EXPECT_NEAR(predicted[i], table.label()[i], 1e-5);
}

TEST(CategoriesTest, OneCategoryAndNoneAreTrainedAndNeverSplitOn) {
  const table::Table useful = random_table({.n_rows = 500, .n_features = 1}, alone());
  const std::vector<float> x(useful.feature(0).begin(), useful.feature(0).end());
  const std::vector<float> y(useful.label().begin(), useful.label().end());
  const table::Table table = make_table({std::vector<float>(500, 3.0F), x, std::vector<float>(500, kNaN)}, y, {},
                                        {{0, std::nullopt}, {2, std::vector<std::string>{}}});
  const Model model = train_alone(table, {.n_trees = 3, .depth = 3});
  const Importance used = importance(model);
  EXPECT_EQ(used.split[0], 0);
  EXPECT_GT(used.split[1], 0);
  EXPECT_EQ(used.split[2], 0);
  EXPECT_EQ(to_text(from_text(to_text(model), "m")), to_text(model));
}

TEST(CategoriesTest, RowsSetAsideDoNotShapeTheModel) {
  table::Table table = random_table({.n_categories = 100}, alone());
  const Options options{.n_trees = 5, .depth = 4, .bins = 64, .validation_fraction = 0.3, .seed = 9};
  const Model before = train_alone(table, options);
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    if (uniform01(hash64(9, kValidationStream, i)) < 0.3) table.feature(table.n_features() - 1)[i] += 77;
  }
  EXPECT_EQ(train_alone(table, options).trees, before.trees);
}

}  // namespace
}  // namespace podere::tree
