#include "podere/evaluate/histograms.h"

#include <gtest/gtest.h>

#include <limits>

#include "podere/base/error.h"

namespace podere::evaluate {
namespace {

using Weights = std::vector<double>;

const comm::Communicator& self() {
  static const auto group = comm::Communicator::self();
  return group;
}

TEST(ScoreHistogram, AScoreCountsInTheBinOfItsLowerEdgeAndOneInTheLast) {
  const std::vector<float> scores = {0, 0.25F, 0.2499F, 0.5F, 0.9F, 1};
  const std::vector<float> labels = {0, 0, 1, 1, 1, 1};
  const auto [background, signal] = score_histogram(self(), scores, labels, {}, 4);
  EXPECT_EQ(background, (Weights{1, 1, 0, 0}));
  EXPECT_EQ(signal, (Weights{1, 0, 1, 2}));
}

TEST(ScoreHistogram, WeightsMayBeNegative) {
  const auto [background, signal] = score_histogram(self(), std::vector<float>{0.1F, 0.1F, 0.9F},
                                                    std::vector<float>{0, 0, 1}, std::vector<float>{2, -0.5F, 4}, 2);
  EXPECT_EQ(background, (Weights{1.5, 0}));
  EXPECT_EQ(signal, (Weights{0, 4}));
}

TEST(ScoreHistogram, WithoutRowsAllBinsAreEmpty) {
  EXPECT_EQ(score_histogram(self(), {}, {}, {}, 3)[1], (Weights{0, 0, 0}));
}

TEST(ScoreHistogram, WhatIsNoProbabilityIsRefused) {
  for (const float score : {-0.1F, 1.1F, std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_THROW(score_histogram(self(), std::vector<float>{score}, std::vector<float>{0}, {}, 3), InputError);
  }
  EXPECT_THROW(score_histogram(self(), std::vector<float>{0.5F}, std::vector<float>{2}, {}, 3), InputError);
}

TEST(ResidualHistogram, WhatLiesBeyondCountsInTheOuterBins) {
  const std::vector<float> predictions = {0, 0, 0, 0, 10};
  const std::vector<float> labels = {-9, -0.5, 0.5, 9, 10};
  const Histogram histogram = residual_histogram(self(), predictions, labels, {}, 1, 4);
  EXPECT_EQ(histogram.low, -1);
  EXPECT_EQ(histogram.high, 1);
  EXPECT_EQ(histogram.weights, (Weights{1, 1, 1, 2}));
}

}  // namespace
}  // namespace podere::evaluate
