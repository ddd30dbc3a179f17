#include "podere/tree/blend.h"

#include <gtest/gtest.h>

#include <vector>

#include "podere/base/error.h"
#include "podere/comm/communicator.h"
#include "podere/tree/predict.h"
#include "podere/tree/test_tables.h"
#include "podere/tree/test_training.h"

namespace podere::tree {
namespace {

TEST(Blend, HasTheWeightedMarginsOfItsModels) {
  for (const Objective objective : {Objective::kBinaryLogistic, Objective::kSoftmax}) {
    const table::Table table = random_table({.n_rows = 400, .objective = objective}, alone());
    Options options{.objective = objective, .n_trees = 3, .depth = 3};
    const Model small = train_alone(table, options);
    options.n_trees = 5;
    options.depth = 5;
    const Model large = train_alone(table, options);
    const std::vector<const Model*> models{&small, &large};
    const Model blended = blend(models, std::vector{0.25, 0.75});
    EXPECT_EQ(blended.n_rounds(), 8);
    EXPECT_EQ(blended.options.n_trees, 8);
    validate(blended);
    const auto margins_of_small = predict_margins(small, table, 1);
    const auto margins_of_large = predict_margins(large, table, 1);
    const auto margins = predict_margins(blended, table, 1);
    for (std::size_t i = 0; i < margins.size(); ++i) {
      ASSERT_NEAR(margins[i], 0.25 * margins_of_small[i] + 0.75 * margins_of_large[i], 1e-6);
    }
    const Importance importance_of_small = importance(small);
    const Importance importance_of_large = importance(large);
    EXPECT_NEAR(importance(blended).gain[0], 0.25 * importance_of_small.gain[0] + 0.75 * importance_of_large.gain[0],
                1e-3);
  }
}

TEST(Blend, RefusesModelsThatHaveNothingInCommon) {
  const Model one = train_alone(random_table({.n_rows = 100}, alone()), {.n_trees = 1});
  const Model other = train_alone(random_table({.n_rows = 100, .n_features = 6}, alone()), {.n_trees = 1});
  const std::vector<const Model*> models{&one, &other};
  EXPECT_THROW(blend(models, std::vector{0.5, 0.5}), InputError);
}

}  // namespace
}  // namespace podere::tree
