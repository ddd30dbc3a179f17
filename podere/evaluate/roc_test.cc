#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "podere/base/test_numbers.h"
#include "podere/evaluate/classification.h"
#include "podere/evaluate/random_rows.h"

namespace podere::evaluate {
namespace {

const std::vector<float> kUnweighted;

/// The chance that a row of class 1 has a higher score than a row of class 0, over all pairs, ties one half.
double auc_over_pairs(const std::vector<float>& scores, const std::vector<float>& labels,
                      const std::vector<float>& weights) {
  long double won = 0, all = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    for (std::size_t j = 0; j < scores.size(); ++j) {
      if (labels[i] != 1 || labels[j] != 0) continue;
      const long double weight = weights.empty() ? 1.0L : static_cast<long double>(weights[i]) * weights[j];
      all += weight;
      won += weight * (scores[i] > scores[j] ? 1.0L : scores[i] == scores[j] ? 0.5L : 0.0L);
    }
  }
  return static_cast<double>(won / all);
}

/// Rates at a threshold, row by row.
RocPoint point_at(double threshold, const Rows& rows, const std::vector<float>& weights) {
  long double passed[2] = {0, 0}, all[2] = {0, 0};
  for (std::size_t i = 0; i < rows.scores.size(); ++i) {
    const long double weight = weights.empty() ? 1 : weights[i];
    all[rows.labels[i] == 1] += weight;
    if (rows.scores[i] >= threshold) passed[rows.labels[i] == 1] += weight;
  }
  return {threshold, static_cast<double>(passed[0] / all[0]), static_cast<double>(passed[1] / all[1])};
}

TEST(Auc, IsTheShareOfPairsInOrder) {
  for (const std::size_t n : {5UL, 17UL, 64UL, 1001UL}) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const Rows rows = random_rows(seed, 0, n);
      const double expected = auc_over_pairs(rows.scores, rows.labels, {});
      if (std::isnan(expected)) continue;
      EXPECT_DOUBLE_EQ(auc(comm::Communicator::self(), rows.scores, rows.labels, {}), expected);
      const double weighted = auc_over_pairs(rows.scores, rows.labels, rows.weights);
      EXPECT_NEAR(auc(comm::Communicator::self(), rows.scores, rows.labels, rows.weights), weighted,
                  1e-12 * (1 + std::fabs(weighted)));
    }
  }
}

TEST(Auc, IsKnownForFewRows) {
  const std::vector<float> labels = {0, 0, 1, 1};
  EXPECT_EQ(auc(comm::Communicator::self(), std::vector{0.1F, 0.4F, 0.35F, 0.8F}, labels, {}), 0.75);
  EXPECT_EQ(auc(comm::Communicator::self(), std::vector{1.0F, 2.0F, 3.0F, 4.0F}, labels, {}), 1);
  EXPECT_EQ(auc(comm::Communicator::self(), std::vector{4.0F, 3.0F, 2.0F, 1.0F}, labels, {}), 0);
  EXPECT_EQ(auc(comm::Communicator::self(), std::vector{7.0F, 7.0F, 7.0F, 7.0F}, labels, {}), 0.5);
  EXPECT_EQ(auc(comm::Communicator::self(), std::vector{-kInfinity, -1.0F, -0.5F, kInfinity}, labels, {}), 1);
  EXPECT_EQ(auc(comm::Communicator::self(), std::vector{-1.0F, -2.0F, -1.5F, -3.0F}, labels, {}), 0.25);
  EXPECT_EQ(auc(comm::Communicator::self(), std::vector{1e-45F, -1e-45F, 0.0F, -1.0F}, labels, {}), 0.25);
}

TEST(Auc, TakesZerosOfBothSignsAsATie) {
  EXPECT_EQ(auc(comm::Communicator::self(), std::vector{-0.0F, 0.0F}, std::vector{0.0F, 1.0F}, {}), 0.5);
  EXPECT_EQ(auc(comm::Communicator::self(), std::vector{0.0F, -0.0F}, std::vector{0.0F, 1.0F}, {}), 0.5);
}

TEST(Auc, IsNaNWhereOneClassHasNoWeight) {
  EXPECT_TRUE(std::isnan(auc(comm::Communicator::self(), {}, {}, {})));
  EXPECT_TRUE(std::isnan(auc(comm::Communicator::self(), std::vector{1.0F}, std::vector{1.0F}, {})));
  EXPECT_TRUE(std::isnan(auc(comm::Communicator::self(), std::vector{1.0F, 2.0F}, std::vector{0.0F, 0.0F}, {})));
  EXPECT_TRUE(std::isnan(
      auc(comm::Communicator::self(), std::vector{1.0F, 2.0F}, std::vector{0.0F, 1.0F}, std::vector{1.0F, 0.0F})));
  const Roc curve = roc(comm::Communicator::self(), std::vector{1.0F, 2.0F}, std::vector{1.0F, 1.0F}, {}, 10);
  EXPECT_TRUE(std::isnan(curve.auc));
  EXPECT_TRUE(curve.points.empty());
}

TEST(Auc, OfEqualWeightsIsThatOfNone) {
  const Rows rows = random_rows(7, 0, 3001);
  const double expected = auc(comm::Communicator::self(), rows.scores, rows.labels, {});
  for (const float weight : {1.0F, -0.25F, 0x1p127F, 0x1p-149F}) {
    EXPECT_EQ(auc(comm::Communicator::self(), rows.scores, rows.labels, std::vector<float>(rows.scores.size(), weight)),
              expected);
  }
  for (const float weight : {0.1F, 3e38F}) {
    EXPECT_DOUBLE_EQ(
        auc(comm::Communicator::self(), rows.scores, rows.labels, std::vector<float>(rows.scores.size(), weight)),
        expected);
  }
}

TEST(Auc, IsThatOfRowsRepeatedAsOftenAsTheirWeightSays) {
  const Rows rows = random_rows(8, 0, 501);
  std::vector<float> weights, scores, labels;
  for (std::size_t i = 0; i < rows.scores.size(); ++i) {
    weights.push_back(static_cast<float>(hash64(1, 1, i) % 4));
    scores.insert(scores.end(), static_cast<std::size_t>(weights[i]), rows.scores[i]);
    labels.insert(labels.end(), static_cast<std::size_t>(weights[i]), rows.labels[i]);
  }
  EXPECT_EQ(auc(comm::Communicator::self(), rows.scores, rows.labels, weights),
            auc(comm::Communicator::self(), scores, labels, {}));
}

TEST(Roc, HasAPointForEveryDistinctScoreWhereTheyFit) {
  const Rows rows = random_rows(9, 0, 701);
  for (const auto* weights : {&kUnweighted, &rows.weights}) {
    const Roc curve = roc(comm::Communicator::self(), rows.scores, rows.labels, *weights, 1000);
    std::vector<float> distinct = rows.scores;
    std::ranges::sort(distinct, std::greater());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    ASSERT_EQ(curve.points.size(), distinct.size() + 1);
    EXPECT_EQ(curve.points[0].threshold, kInfinity);
    EXPECT_EQ(curve.points[0].false_positive_rate, 0);
    EXPECT_EQ(curve.points[0].true_positive_rate, 0);
    for (std::size_t i = 0; i < distinct.size(); ++i) {
      const RocPoint expected = point_at(distinct[i], rows, *weights);
      EXPECT_EQ(curve.points[i + 1].threshold, expected.threshold);
      EXPECT_NEAR(curve.points[i + 1].false_positive_rate, expected.false_positive_rate, 1e-12);
      EXPECT_NEAR(curve.points[i + 1].true_positive_rate, expected.true_positive_rate, 1e-12);
    }
    EXPECT_EQ(curve.points.back().false_positive_rate, 1);
    EXPECT_EQ(curve.points.back().true_positive_rate, 1);
    EXPECT_EQ(curve.auc, auc(comm::Communicator::self(), rows.scores, rows.labels, *weights));
    // The area by trapezoids, since ties count one half.
    double area = 0;
    for (std::size_t i = 1; i < curve.points.size(); ++i) {
      area += (curve.points[i].false_positive_rate - curve.points[i - 1].false_positive_rate) *
              (curve.points[i].true_positive_rate + curve.points[i - 1].true_positive_rate) / 2;
    }
    EXPECT_NEAR(curve.auc, area, 1e-12);
  }
}

TEST(Roc, IsThinnedEvenlyToPointsThatAreExact) {
  Rows rows = random_rows(10, 0, 20011);
  for (std::size_t i = 0; i < rows.scores.size(); ++i)
    rows.scores[i] += 0.001F * static_cast<float>(hash64(2, 2, i) % 97);
  const Roc all = roc(comm::Communicator::self(), rows.scores, rows.labels, {}, 1 << 20);
  for (const std::size_t max_points : {2UL, 3UL, 10UL, 101UL, 5000UL}) {
    const Roc curve = roc(comm::Communicator::self(), rows.scores, rows.labels, {}, max_points);
    EXPECT_EQ(curve.auc, all.auc);
    EXPECT_LE(curve.points.size(), max_points);
    EXPECT_EQ(curve.points.front().threshold, kInfinity);
    EXPECT_EQ(curve.points.back().true_positive_rate, 1);
    std::size_t next = 0;
    double longest = 0;
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
      const RocPoint& point = curve.points[i];
      while (next < all.points.size() && all.points[next].threshold != point.threshold) ++next;
      ASSERT_LT(next, all.points.size());
      EXPECT_EQ(point.false_positive_rate, all.points[next].false_positive_rate);
      EXPECT_EQ(point.true_positive_rate, all.points[next].true_positive_rate);
      if (i == 0) continue;
      longest = std::max(longest, point.false_positive_rate - curve.points[i - 1].false_positive_rate +
                                      point.true_positive_rate - curve.points[i - 1].true_positive_rate);
    }
    // No step is longer than two pieces and the largest tie.
    EXPECT_LT(longest, 4.0 / static_cast<double>(max_points - 1) + 0.01);
  }
}

}  // namespace
}  // namespace podere::evaluate
