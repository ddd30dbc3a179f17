#include "podere/neural/descent.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace podere::neural {
namespace {

const Layout& small() {
  static const Layout layout(2, std::vector<int>{}, 1);  // weights 0 and 1, bias 2
  return layout;
}

std::vector<float> steps(const Options& options, int n, std::vector<double> gradient) {
  Descent descent(small(), options, 4, 2);
  std::vector<float> weights(small().size(), 0.0F);
  weights[0] = 1;
  weights[2] = 1;
  gradient.resize(small().size());
  for (int i = 0; i < n; ++i) {
    std::vector<double> g = gradient;
    regularize(small(), options, weights, g);
    descent.step(g, weights);
  }
  return weights;
}

TEST(DescentTest, L2PullsWeightsAndLeavesBiases) {
  const auto weights = steps({.optimizer = Optimizer::kSgd, .learning_rate = 0.5, .momentum = 0, .l2 = 0.25}, 1, {});
  EXPECT_FLOAT_EQ(weights[0], 1 - 0.5F * 0.25F);
  EXPECT_FLOAT_EQ(weights[2], 1);
}

TEST(DescentTest, AdamWTakesAShareOfTheWeightsOff) {
  const auto weights = steps({.optimizer = Optimizer::kAdamW, .learning_rate = 0.5, .weight_decay = 0.1}, 2, {});
  EXPECT_FLOAT_EQ(weights[0], 0.95F * 0.95F);
  EXPECT_FLOAT_EQ(weights[2], 1);
}

TEST(DescentTest, TheFirstStepOfAdamIsTheLearningRate) {
  const auto weights = steps({.learning_rate = 0.01}, 1, {3, -1e-3});
  EXPECT_NEAR(weights[0], 0.99, 1e-6);
  EXPECT_NEAR(weights[1], 0.01, 1e-6);
}

TEST(DescentTest, LongGradientsAreShortened) {
  const Options options{.optimizer = Optimizer::kSgd, .learning_rate = 1, .momentum = 0, .clip_norm = 5};
  EXPECT_FLOAT_EQ(steps(options, 1, {30, 40})[1], -4);
  EXPECT_FLOAT_EQ(steps(options, 1, {3, 4})[1], -4);
  EXPECT_FLOAT_EQ(steps(options, 1, {0.3, 0.4})[1], -0.4F);
}

TEST(DescentTest, SchedulesLowerTheLearningRate) {
  const auto rates = [](const Options& options) {
    Descent descent(small(), options, 4, 2);
    std::vector<double> all;
    std::vector<double> gradient(small().size());
    std::vector<float> weights(small().size());
    for (int i = 0; i < 12; ++i) {
      all.push_back(descent.learning_rate());
      descent.step(gradient, weights);
    }
    return all;
  };
  const auto exponential =
      rates({.epochs = 3, .learning_rate = 2, .schedule = Schedule::kExponential, .learning_rate_decay = 0.5});
  const auto cosine = rates({.epochs = 3, .learning_rate = 2, .schedule = Schedule::kCosine});
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(exponential[static_cast<std::size_t>(i)], i < 4 ? 2 : i < 8 ? 1 : 0.5);
    EXPECT_NEAR(cosine[static_cast<std::size_t>(i)], 1 + std::cos(std::numbers::pi * i / 12), 1e-12);
  }
}

TEST(DescentTest, StepsOfShardsAreThoseOfAll) {
  const Layout layout(40, std::vector<int>{7, 5}, 3);
  for (const Optimizer optimizer : {Optimizer::kSgd, Optimizer::kAdam, Optimizer::kAdamW}) {
    const Options options{.optimizer = optimizer, .learning_rate = 0.1};
    Descent of_all(layout, options, 4, 2);
    Descent of_shards[] = {Descent(layout, options, 4, 2), Descent(layout, options, 4, 2)};
    std::vector<float> expected = initial_weights(layout, Initialization::kGlorot, 1);
    std::vector<float> weights = expected;
    const std::size_t cut = 9 * kLanes;
    const Shard shards[] = {{0, cut}, {cut, layout.size() - cut}};
    for (int i = 0; i < 3; ++i) {
      std::vector<double> gradient(layout.size());
      for_each_weight(layout, [&](std::size_t k) { gradient[k] = std::sin(static_cast<double>(k) + i); });
      of_all.step(gradient, expected);
      for (int s : {0, 1}) of_shards[s].step(shards[s].of(std::span<const double>(gradient)), weights, shards[s]);
    }
    EXPECT_EQ(weights, expected) << to_string(optimizer);
  }
}

TEST(DescentTest, ResumesFromASavedStateAsIfItHadNeverStopped) {
  for (const Optimizer optimizer : {Optimizer::kSgd, Optimizer::kAdam, Optimizer::kAdamW}) {
    const Options options{.optimizer = optimizer, .schedule = Schedule::kExponential};
    Descent first(small(), options, 4, 2);
    std::vector<float> weights(small().size(), 0.5F);
    const auto step = [&](Descent& descent, int i) {
      std::vector<double> gradient(small().size(), std::sin(i));
      descent.step(gradient, weights);
    };
    for (int i = 0; i < 6; ++i) step(first, i);
    TrainState state;
    first.save(state);
    Descent second(small(), options, 4, 2);
    second.load(state);
    const std::vector<float> at_stop = weights;
    for (int i = 6; i < 12; ++i) step(first, i);
    const std::vector<float> expected = weights;
    weights = at_stop;
    for (int i = 6; i < 12; ++i) step(second, i);
    EXPECT_EQ(weights, expected);
    state.numbers["descent_first"].pop_back();
    EXPECT_THROW(second.load(state), InputError);
  }
}

}  // namespace
}  // namespace podere::neural
