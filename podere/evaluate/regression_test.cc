#include "podere/evaluate/regression.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "podere/base/error.h"
#include "podere/evaluate/random_rows.h"

namespace podere::evaluate {
namespace {

using Labels = std::span<const float>;
using Measure = std::function<double(Labels predictions, Labels labels, Labels weights)>;

const Measure kRmse = [](Labels p, Labels y, Labels w) {
  return root_mean_squared_error(comm::Communicator::self(), p, y, w);
};
const Measure kR2 = [](Labels p, Labels y, Labels w) { return r2(comm::Communicator::self(), p, y, w); };
const Measure kMae = [](Labels p, Labels y, Labels w) {
  return mean_absolute_error(comm::Communicator::self(), p, y, w);
};
const Measure kDeviance = [](Labels p, Labels y, Labels w) {
  return mean_poisson_deviance(comm::Communicator::self(), p, y, w);
};
const Measure kPinball = [](Labels p, Labels y, Labels w) {
  return pinball_loss(comm::Communicator::self(), p, y, w, 0.8);
};

/// The weighted mean of loss(label, prediction) in one loop.
double plain_mean(const Rows& rows, bool is_weighted, const std::function<double(double, double)>& loss) {
  long double sum = 0, weight_sum = 0;
  for (std::size_t i = 0; i < rows.labels.size(); ++i) {
    const double weight = is_weighted ? rows.weights[i] : 1;
    sum += static_cast<long double>(weight) * loss(rows.labels[i], rows.scores[i]);
    weight_sum += weight;
  }
  return static_cast<double>(sum / weight_sum);
}

TEST(Regression, MeasuresAreWhatAPlainLoopFinds) {
  Rows rows = random_rows(3, 0, 3001, 9);
  for (float& score : rows.scores) score = score * 9 + 0.01F;
  for (const bool is_weighted : {false, true}) {
    const Labels weights = is_weighted ? Labels(rows.weights) : Labels();
    const auto expect = [&](const Measure& measure, double expected) {
      EXPECT_NEAR(measure(rows.scores, rows.labels, weights), expected, 1e-13 * std::abs(expected));
    };
    expect(kRmse, std::sqrt(plain_mean(rows, is_weighted, [](double y, double p) { return std::pow(y - p, 2); })));
    const double mean = plain_mean(rows, is_weighted, [](double y, double) { return y; });
    const double variance = plain_mean(rows, is_weighted, [&](double y, double) { return std::pow(y - mean, 2); });
    expect(kR2, 1 - std::pow(kRmse(rows.scores, rows.labels, weights), 2) / variance);
    expect(kMae, plain_mean(rows, is_weighted, [](double y, double p) { return std::abs(y - p); }));
    expect(kPinball, plain_mean(rows, is_weighted, [](double y, double p) { return (y - p) * (y > p ? 0.8 : -0.2); }));
    expect(kDeviance, plain_mean(rows, is_weighted,
                                 [](double y, double p) { return 2 * ((y > 0 ? y * std::log(y / p) : 0) - y + p); }));
  }
}

TEST(Regression, MeasuresOfAFewRowsAreThoseByHand) {
  const std::vector<float> predictions{1, 5, 2};
  const std::vector<float> labels{4, 1, 2};
  EXPECT_DOUBLE_EQ(kRmse(predictions, labels, {}), std::sqrt(25.0 / 3));
  EXPECT_DOUBLE_EQ(kMae(predictions, labels, {}), 7.0 / 3);
  EXPECT_DOUBLE_EQ(kPinball(predictions, labels, {}), (0.8 * 3 + 0.2 * 4) / 3);
  EXPECT_DOUBLE_EQ(kDeviance(std::vector{2.0F}, std::vector{0.0F}, {}), 4);
  EXPECT_EQ(kDeviance(std::vector{2.0F}, std::vector{2.0F}, {}), 0);
  EXPECT_EQ(kDeviance(std::vector{0.0F}, std::vector{0.0F}, {}), 0);
  EXPECT_TRUE(std::isinf(kDeviance(std::vector{0.0F}, std::vector{1.0F}, {})));
  EXPECT_DOUBLE_EQ(kR2(predictions, labels, {}), 1 - 25 / (14.0 / 3));
  EXPECT_TRUE(std::isnan(kR2(predictions, std::vector{0.1F, 0.1F, 0.1F}, {})));
  for (const Measure& measure : {kRmse, kR2, kMae, kPinball, kDeviance}) EXPECT_TRUE(std::isnan(measure({}, {}, {})));
}

TEST(Regression, LabelsOutOfTheirSetAreNamed) {
  const auto refusal = [](const Measure& measure, float label) -> std::string {
    try {
      measure(std::vector{1.0F, 1.0F}, std::vector{0.0F, label}, {});
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const Measure& measure : {kRmse, kR2, kMae, kPinball}) {
    EXPECT_EQ(refusal(measure, nan), "a label is nan: labels must be finite numbers");
    EXPECT_EQ(refusal(measure, -1), "accepted");
  }
  EXPECT_EQ(refusal(kDeviance, -1), "a label is -1: labels must be finite numbers, 0 or more");
}

}  // namespace
}  // namespace podere::evaluate
