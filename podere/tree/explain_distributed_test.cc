// The same explanations, bit for bit, however the rows are spread.
#include <gtest/gtest.h>

#include "podere/tree/permutation_importance.h"
#include "podere/tree/shap.h"
#include "podere/tree/test_tables.h"
#include "podere/tree/train.h"

namespace podere::tree {
namespace {

class ExplainDistributed : public testing::TestWithParam<Objective> {};
INSTANTIATE_TEST_SUITE_P(Objectives, ExplainDistributed,
                         testing::Values(Objective::kBinaryLogistic, Objective::kSoftmax, Objective::kSquaredError));

TEST_P(ExplainDistributed, ValuesAndImportancesDoNotDependOnRanksOrThreads) {
  Progress progress;
  for (const std::size_t n_rows : {1500, 6000}) {  // of two row blocks, ranks are left without rows
    const RandomTable want{.n_rows = n_rows, .objective = GetParam(), .has_missing = true, .has_weight = true};
    const table::Table whole = random_table(want, alone());
    const table::Table part = random_table(want, world());
    const Model model = train(table::HeldRows(whole), nullptr, {.objective = GetParam(), .n_trees = 4, .depth = 5},
                              alone(), 1, progress);
    const auto expected = permutation_importance(model, whole, 2, 5, alone(), 1, progress);
    const std::vector<double> values = shap_values(model, whole, 1);
    for (const int n_threads : {1, 3}) {
      const auto found = permutation_importance(model, part, 2, 5, world(), n_threads, progress);
      EXPECT_EQ(found.baseline, expected.baseline);
      EXPECT_EQ(found.mean, expected.mean);
      EXPECT_EQ(found.spread, expected.spread);
      const std::vector<double> own = shap_values(model, part, n_threads);
      EXPECT_EQ(world().all_gather_v(std::span<const double>(own)), values);
    }
  }
}

}  // namespace
}  // namespace podere::tree
