// The same model, bit for bit, however the rows are spread.
#include <gtest/gtest.h>

#include "podere/base/error.h"
#include "podere/tree/predict.h"
#include "podere/tree/test_tables.h"
#include "podere/tree/train.h"

namespace podere::tree {
namespace {

struct Case {
  const char* name;
  RandomTable table;
  Options options;
  bool has_validation_table = false;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"plain", {}, {.n_trees = 5, .depth = 6}},
      {"few_rows_leave_ranks_empty", {.n_rows = 1500}, {.n_trees = 5, .depth = 4}},
      {"missing_values_and_weights", {.has_missing = true, .has_weight = true}, {.n_trees = 5, .depth = 6}},
      {"subsampling",
       {.has_missing = true},
       {.n_trees = 6, .depth = 5, .subsample = 0.5, .column_subsample = 0.5, .seed = 3}},
      {"early_stopping_on_rows_set_aside",
       {.n_rows = 3000, .has_weight = true},
       {.n_trees = 60, .depth = 5, .learning_rate = 0.8, .validation_fraction = 0.25, .early_stopping_rounds = 3}},
      {"early_stopping_on_another_table",
       {.n_rows = 3000},
       {.n_trees = 60, .depth = 5, .learning_rate = 0.8, .early_stopping_rounds = 3},
       true},
      {"squared_error",
       {.objective = Objective::kSquaredError, .has_missing = true, .has_weight = true},
       {.objective = Objective::kSquaredError, .n_trees = 5, .depth = 6, .subsample = 0.8}},
      {"softmax",
       {.objective = Objective::kSoftmax, .has_missing = true, .has_weight = true},
       {.objective = Objective::kSoftmax,
        .n_trees = 4,
        .depth = 5,
        .max_leaves = 11,
        .validation_fraction = 0.2,
        .early_stopping_rounds = 2}},
      {"poisson",
       {.objective = Objective::kPoisson, .has_missing = true, .has_weight = true},
       {.objective = Objective::kPoisson, .max_delta_step = 0.2, .n_trees = 5, .depth = 6, .subsample = 0.8}},
      {"quantile",
       {.objective = Objective::kQuantile, .has_missing = true, .has_weight = true},
       {.objective = Objective::kQuantile,
        .quantile = 0.85,
        .n_trees = 5,
        .depth = 6,
        .subsample = 0.8,
        .validation_fraction = 0.2}},
      {"balanced_classes_and_a_base_score",
       {.has_weight = true},
       {.balance_classes = true,
        .scale_pos_weight = 1.5,
        .base_score = 0.2,
        .n_trees = 5,
        .depth = 5,
        .subsample = 0.7,
        .validation_fraction = 0.2}},
      {"infinities", {.has_infinities = true, .has_missing = true}, {.n_trees = 5, .depth = 6}},
      {"monotone_and_interactions",
       {.has_missing = true, .has_weight = true},
       {.n_trees = 5, .depth = 6, .monotone = "x0:+1,x1:-1,x3:+1", .interactions = "x0,x1,x2;x2,x3,x4"}},
      {"monotone_beside_categories",
       {.has_missing = true, .n_categories = 40},
       {.n_trees = 5, .depth = 6, .monotone = "x0:+1,x1:-1"}},
      {"best_first",
       {.has_missing = true},
       {.n_trees = 4, .depth = 30, .max_leaves = 25, .best_first = true, .subsample = 0.7}},
      {"best_first_beside_categories_with_weights_of_classes",
       {.objective = Objective::kSoftmax, .has_missing = true, .n_categories = 40},
       {.objective = Objective::kSoftmax,
        .class_weight = {1, 2.5, 0.5},
        .n_trees = 3,
        .depth = 7,
        .max_leaves = 12,
        .best_first = true,
        .min_child_weight = 3,
        .min_gain = 0.5}},
      {"best_first_with_constraints_on_few_rows",
       {.n_rows = 1500, .objective = Objective::kSquaredError, .has_weight = true},
       {.objective = Objective::kSquaredError,
        .n_trees = 4,
        .depth = 4,
        .max_leaves = 12,
        .best_first = true,
        .column_subsample = 0.6,
        .monotone = "x0:-1,x2:+1",
        .interactions = "x0,x2,x6"}},
      {"more_ranks_than_features", {.n_features = 1}, {.n_trees = 5, .depth = 5}},
      {"sampled_cuts_and_fewer_levels", {.n_rows = 140'000, .n_features = 2}, {.n_trees = 2, .depth = 4}},
      {"categories",
       {.has_missing = true, .has_weight = true, .n_categories = 40},
       {.n_trees = 5, .depth = 6, .subsample = 0.5, .validation_fraction = 0.2}},
      {"more_categories_than_bins",
       {.n_features = 2, .objective = Objective::kSoftmax, .n_categories = 300},
       {.objective = Objective::kSoftmax, .n_trees = 4, .depth = 5, .bins = 64},
       true},
      {"two_panels", {.n_features = 40}, {.n_trees = 3, .depth = 5, .bins = 37}},
  };
  return all;
}

class SameBitsTest : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Cases, SameBitsTest, testing::Range(std::size_t{0}, cases().size()),
                         [](const auto& param) { return cases()[param.param].name; });

Model train_rows(const table::RowSource& rows, const Case& c, const Options& options, const comm::Communicator& comm,
                 int n_threads, const RunControl& control = {}) {
  RandomTable other = c.table;
  other.seed = 77;
  const table::Table validation = random_table(other, comm);
  Progress progress;
  return train(rows, c.has_validation_table ? &validation : nullptr, options, comm, n_threads, progress, nullptr,
               control);
}

/// Trains on the case's tables, with these options.
Model train_case(const Case& c, const Options& options, const comm::Communicator& comm, int n_threads,
                 const RunControl& control = {}) {
  const table::Table table = random_table(c.table, comm);
  return train_rows(table::HeldRows(table), c, options, comm, n_threads, control);
}

std::string model_text(const Case& c, const comm::Communicator& comm, int n_threads) {
  return to_text(train_case(c, c.options, comm, n_threads));
}

TEST_P(SameBitsTest, TheModelDoesNotDependOnRanksOrThreads) {
  const Case& c = cases()[GetParam()];
  const std::string expected = model_text(c, alone(), 1);
  EXPECT_GT(expected.size(), 1000);
  EXPECT_EQ(model_text(c, alone(), 3), expected) << "3 threads";
  EXPECT_EQ(model_text(c, world(), 1), expected) << world().size() << " ranks";
  EXPECT_EQ(model_text(c, world(), 3), expected) << world().size() << " ranks, 3 threads";
}

TEST_P(SameBitsTest, AModelContinuedIsThatOfOneRun) {
  const Case& c = cases()[GetParam()];
  if (c.options.early_stopping_rounds > 0) GTEST_SKIP() << "it may end before the half or keep fewer rounds";
  const std::string expected = model_text(c, alone(), 1);
  Options half = c.options;
  half.n_trees = c.options.n_trees / 2;
  Options rest = c.options;
  rest.n_trees = c.options.n_trees - half.n_trees;
  const Model first = from_text(to_text(train_case(c, half, world(), 2)), "first");
  EXPECT_EQ(to_text(train_case(c, rest, world(), 1, {.base = &first})), expected);
}

TEST_P(SameBitsTest, ARunThatIsBrokenOffAnywhereEndsWithTheSameModel) {
  const Case& c = cases()[GetParam()];
  const Model base = train_case(c, c.options, alone(), 1);
  for (const Model* from : {static_cast<const Model*>(nullptr), &base}) {
    std::vector<std::string> checkpoints;
    const auto keep = [&](const Model& so_far) { checkpoints.push_back(to_text(so_far)); };
    const std::string expected = to_text(train_case(c, c.options, world(), 2, {.base = from, .offer = keep}));
    ASSERT_FALSE(checkpoints.empty());
    const std::size_t first = from == nullptr ? 0 : checkpoints.size() / 2;
    for (std::size_t place = first; place < checkpoints.size(); place += (checkpoints.size() + 1) / 2) {
      const Model checkpoint = from_text(checkpoints[place], "checkpoint");
      const RunControl rest = {.base = from, .checkpoint = &checkpoint};
      EXPECT_EQ(to_text(train_case(c, c.options, place == 0 ? alone() : world(), 1, rest)), expected)
          << "after round " << place + 1;
    }
  }
}

TEST(TrainDistributedTest, ACheckpointOfAnotherRunIsRefused) {
  const Case& c = cases()[0];
  const Model checkpoint = train_case(c, c.options, world(), 1);
  Options other = c.options;
  other.depth += 1;
  EXPECT_THROW(train_case(c, other, world(), 1, {.checkpoint = &checkpoint}), InputError);
}

TEST_P(SameBitsTest, TheModelDoesNotDependOnWhetherFeaturesAreHeld) {
  const Case& c = cases()[GetParam()];
  const table::Table whole = random_table(c.table, alone());
  const auto copy = [&](table::Table& window) {
    const auto part = [&](std::span<const float> all) { return all.subspan(window.rows().begin, window.n_rows()); };
    for (std::size_t j = 0; j < window.n_features(); ++j) {
      std::ranges::copy(part(whole.feature(j)), window.feature(j).begin());
    }
    std::ranges::copy(part(whole.label()), window.label().begin());
    if (!whole.weight().empty()) std::ranges::copy(part(whole.weight()), window.weight().begin());
  };
  const table::RowRange here = table::rows_of(whole.n_rows(), world().rank(), world().size());
  const table::ReadRows rows(whole.schema(), whole.n_rows(), here, copy, 1);
  EXPECT_EQ(to_text(train_rows(rows, c, c.options, world(), 2)), model_text(c, alone(), 1));
}

TEST(TrainDistributedTest, PredictionsAreThoseOfOneRank) {
  const RandomTable want{.n_rows = 3000, .has_missing = true};
  Progress progress;
  const table::Table part = random_table(want, world());
  const Model model = train(table::HeldRows(part), nullptr, {.n_trees = 4, .depth = 5}, world(), 2, progress);
  const std::vector<float> own = predict(model, part, 2);
  EXPECT_EQ(world().all_gather_v(std::span<const float>(own)), predict(model, random_table(want, alone()), 1));
}

TEST(TrainDistributedTest, ABadLabelOnOneRankIsReportedOnAll) {
  table::Table table = random_table({}, world());
  const std::uint64_t bad_row = 4321;
  if (table.rows().begin <= bad_row && bad_row < table.rows().end) table.label()[bad_row - table.rows().begin] = 9;
  Progress progress;
  try {
    train(table::HeldRows(table), nullptr, {}, world(), 1, progress);
    FAIL() << "trained";
  } catch (const InputError& error) {
    EXPECT_TRUE(std::string_view(error.what()).starts_with("training data: label of row 4321 is 9, allowed is 0 or 1"));
  }
}

TEST(TrainDistributedTest, AStopRequestOnRankZeroEndsAllRanksAlike) {
  struct StopOnRoot : Progress {
    bool stop_requested() override { return world().is_root(); }
  } progress;
  EXPECT_EQ(train(table::HeldRows(random_table({}, world())), nullptr, {.depth = 3}, world(), 1, progress).trees.size(),
            1);
}

}  // namespace
}  // namespace podere::tree
