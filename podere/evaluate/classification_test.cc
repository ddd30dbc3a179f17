#include "podere/evaluate/classification.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "podere/evaluate/random_rows.h"

namespace podere::evaluate {
namespace {

const std::vector<float> kNoWeights;

long double weight_at(const std::vector<float>& weights, std::size_t i) { return weights.empty() ? 1 : weights[i]; }

/// Probabilities of n_classes classes, class by class, that sum to 1 in each row.
std::vector<float> class_probabilities(std::size_t n_classes, std::size_t n) {
  std::vector<float> probabilities(n_classes * n);
  for (std::size_t i = 0; i < n; ++i) {
    RandomSequence random(5, 0, i);
    std::vector<double> parts(n_classes);
    double sum = 0;
    for (double& part : parts) sum += part = random.uniform() < 0.05 ? 0 : random.uniform() + 1e-3;
    for (std::size_t k = 0; k < n_classes; ++k) {
      probabilities[k * n + i] = static_cast<float>(sum > 0 ? parts[k] / sum : k == 0);
    }
  }
  return probabilities;
}

long double plain_loss(long double probability) {
  return -std::log(std::clamp(static_cast<double>(probability), 1e-15, 1 - 1e-15));
}

TEST(LogLoss, IsWhatAPlainLoopFinds) {
  for (const std::size_t n : {1UL, 2UL, 3UL, 100UL, 4097UL}) {
    const Rows rows = random_rows(1, 0, n);
    for (const auto* weights : {&kNoWeights, &rows.weights}) {
      long double sum = 0, weight = 0;
      for (std::size_t i = 0; i < n; ++i) {
        sum += weight_at(*weights, i) * plain_loss(rows.labels[i] == 1 ? rows.scores[i] : 1.0L - rows.scores[i]);
        weight += weight_at(*weights, i);
      }
      const auto expected = static_cast<double>(sum / weight);
      EXPECT_NEAR(log_loss(comm::Communicator::self(), rows.scores, rows.labels, *weights), expected,
                  1e-12 * std::fabs(expected));
    }
  }
}

TEST(LogLoss, ClampsCertainty) {
  EXPECT_DOUBLE_EQ(log_loss(comm::Communicator::self(), std::vector{0.0F}, std::vector{1.0F}, {}), -std::log(1e-15));
  EXPECT_NEAR(log_loss(comm::Communicator::self(), std::vector{1.0F}, std::vector{0.0F}, {}), -std::log(1e-15), 0.01);
  EXPECT_NEAR(log_loss(comm::Communicator::self(), std::vector{1.0F}, std::vector{1.0F}, {}), 1e-15, 2e-16);
  EXPECT_DOUBLE_EQ(log_loss(comm::Communicator::self(), std::vector{0.5F}, std::vector{0.0F}, {}), std::log(2.0));
}

TEST(LogLoss, OfNoRowsIsNaN) {
  EXPECT_TRUE(std::isnan(log_loss(comm::Communicator::self(), {}, {}, {})));
  EXPECT_TRUE(std::isnan(multi_log_loss(comm::Communicator::self(), {}, 3, {}, {})));
}

TEST(LogLoss, IsNotAFiniteNumberWhereAProbabilityIsNot) {
  EXPECT_TRUE(
      std::isnan(log_loss(comm::Communicator::self(), std::vector{0.5F, std::nanf("")}, std::vector{1.0F, 0.0F}, {})));
}

TEST(MultiLogLoss, IsWhatAPlainLoopFinds) {
  for (const std::size_t n_classes : {1UL, 2UL, 3UL, 7UL}) {
    for (const std::size_t n : {1UL, 5UL, 1001UL}) {
      const Rows rows = random_rows(2, 0, n, static_cast<int>(n_classes));
      const std::vector<float> probabilities = class_probabilities(n_classes, n);
      for (const auto* weights : {&kNoWeights, &rows.weights}) {
        long double sum = 0, weight = 0;
        for (std::size_t i = 0; i < n; ++i) {
          sum += weight_at(*weights, i) * plain_loss(probabilities[static_cast<std::size_t>(rows.labels[i]) * n + i]);
          weight += weight_at(*weights, i);
        }
        const auto expected = static_cast<double>(sum / weight);
        EXPECT_NEAR(multi_log_loss(comm::Communicator::self(), probabilities, n_classes, rows.labels, *weights),
                    expected, 1e-12 * std::fabs(expected) + 1e-25);
      }
    }
  }
}

TEST(ConfusionMatrix, CountsEveryPairOfClasses) {
  const std::vector<std::int32_t> predicted = {0, 0, 1, 2, 2, 2};
  const std::vector<float> labels = {0, 1, 1, 0, 2, 2};
  const ConfusionMatrix matrix = confusion_matrix(comm::Communicator::self(), predicted, 3, labels, {});
  EXPECT_EQ(matrix.counts, (std::vector<double>{1, 0, 1, 1, 1, 0, 0, 0, 2}));
  EXPECT_DOUBLE_EQ(matrix.accuracy(), 4.0 / 6);
}

TEST(ConfusionMatrix, SumsWeightsAsAPlainLoopDoes) {
  for (const std::size_t n_classes : {2UL, 5UL}) {
    const Rows rows = random_rows(4, 0, 2003, static_cast<int>(n_classes));
    std::vector<std::int32_t> predicted;
    std::vector<long double> expected(n_classes * n_classes, 0);
    long double right = 0, all = 0;
    for (std::size_t i = 0; i < rows.labels.size(); ++i) {
      predicted.push_back(static_cast<std::int32_t>(hash64(1, 1, i) % n_classes));
      const auto label = static_cast<std::size_t>(rows.labels[i]);
      expected[label * n_classes + static_cast<std::size_t>(predicted[i])] += rows.weights[i];
      all += rows.weights[i];
      if (static_cast<std::int32_t>(label) == predicted[i]) right += rows.weights[i];
    }
    const ConfusionMatrix matrix =
        confusion_matrix(comm::Communicator::self(), predicted, n_classes, rows.labels, rows.weights);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_DOUBLE_EQ(matrix.counts[i], static_cast<double>(expected[i]));
    }
    EXPECT_DOUBLE_EQ(matrix.accuracy(), static_cast<double>(right / all));
  }
}

TEST(ConfusionMatrix, OfNoRowsHasNoAccuracy) {
  const ConfusionMatrix matrix = confusion_matrix(comm::Communicator::self(), {}, 2, {}, {});
  EXPECT_EQ(matrix.counts, std::vector<double>(4, 0));
  EXPECT_TRUE(std::isnan(matrix.accuracy()));
}

TEST(ConfusionMatrix, TakesWeightsOfAnySize) {
  const std::vector<std::int32_t> predicted = {0, 1};
  const std::vector<float> labels = {0, 1};
  for (const float weight : {3e38F, 1.0F, -1e-30F, 1e-45F}) {
    const auto matrix = confusion_matrix(comm::Communicator::self(), predicted, 2, labels, std::vector{weight, weight});
    EXPECT_EQ(matrix.counts, (std::vector<double>{weight, 0, 0, weight}));
    EXPECT_EQ(matrix.accuracy(), 1);
  }
  EXPECT_EQ(confusion_matrix(comm::Communicator::self(), predicted, 2, labels, std::vector{0.0F, 0.0F}).counts,
            std::vector<double>(4, 0));
}

TEST(PredictedClasses, AreOneFromOneHalfOn) {
  EXPECT_EQ(predicted_classes(std::vector{0.0F, 0.49999997F, 0.5F, 1.0F}, 2, 4),
            (std::vector<std::int32_t>{0, 0, 1, 1}));
}

TEST(PredictedClasses, AreThoseOfTheLargestProbabilityTheLowestOnTies) {
  const std::vector<float> probabilities = {0.2F, 0.4F, 0.1F, 0.5F, 0.4F, 0.1F, 0.3F, 0.2F, 0.8F};
  EXPECT_EQ(predicted_classes(probabilities, 3, 3), (std::vector<std::int32_t>{1, 0, 2}));
  EXPECT_EQ(predicted_classes(std::vector{0.3F, 0.7F}, 2, 1), (std::vector<std::int32_t>{1}));
  EXPECT_EQ(predicted_classes(std::vector{0.3F, 0.7F}, 1, 2), (std::vector<std::int32_t>{0, 0}));
  EXPECT_TRUE(predicted_classes({}, 3, 0).empty());
}

}  // namespace
}  // namespace podere::evaluate
