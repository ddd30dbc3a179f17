#include "podere/report/curve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace podere::report {
namespace {

ProgressStep step(std::size_t done, std::vector<std::pair<std::string, double>> metrics) {
  return {"train", done, 100000, std::move(metrics), "step"};
}

TEST(Curve, HasWhatWasReported) {
  Curve curve;
  curve.add(step(0, {}), 0.5);
  curve.add(step(1, {{"loss", 0.7}}), 1);
  curve.add(step(2, {{"loss", 0.6}, {"validation_loss", 0.65}}), 1.5);
  const Json json = curve.to_json();
  EXPECT_EQ(json.at("unit"), "step");
  EXPECT_EQ(json.at("done"), Json({0, 1, 2}));
  EXPECT_EQ(json.at("seconds"), Json({0.5, 1.0, 1.5}));
  EXPECT_EQ(json.at("metrics").at("loss"), Json({nullptr, 0.7, 0.6}));
  EXPECT_EQ(json.at("metrics").at("validation_loss"), Json({nullptr, nullptr, 0.65}));
}

TEST(Curve, TreesHaveNoUnitInReports) {
  Curve curve;
  curve.add({"train", 0, 1, {{"loss", 1}}}, 0);
  EXPECT_EQ(curve.to_json().at("unit"), "tree");
}

TEST(Curve, WhatIsNotFiniteIsNull) {
  Curve curve;
  curve.add(step(1, {{"loss", std::numeric_limits<double>::infinity()}}), 0);
  EXPECT_TRUE(curve.to_json().at("metrics").at("loss").at(0).is_null());
}

TEST(Curve, StepsThatAreDoneAgainBeginAnew) {
  Curve curve;
  for (std::size_t i = 0; i < 10; ++i) curve.add(step(i, {{"loss", 1}}), static_cast<double>(i));
  curve.add(step(4, {{"loss", 2}}), 20);
  curve.add(step(5, {{"loss", 3}}), 21);
  EXPECT_EQ(curve.to_json().at("done"), Json({0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(curve.to_json().at("metrics").at("loss"), Json({1.0, 1.0, 1.0, 1.0, 2.0, 3.0}));
}

TEST(Curve, OfManyReportsSomeAreKeptAndAlwaysTheLast) {
  for (const std::size_t n : {Curve::kMostPoints, Curve::kMostPoints + 1, 5 * Curve::kMostPoints + 3}) {
    Curve curve;
    for (std::size_t i = 0; i < n; ++i) {
      curve.add(step(i, {{"loss", static_cast<double>(i)}}), 0);
      if (i + 2 >= n) {
        EXPECT_EQ(curve.to_json().at("done").back(), i);
      }
    }
    const Json done = curve.to_json().at("done");
    EXPECT_LE(done.size(), Curve::kMostPoints);
    EXPECT_GE(done.size(), std::min(n, Curve::kMostPoints) / 2);
    for (std::size_t i = 1; i + 1 < done.size(); ++i) {
      EXPECT_EQ(done[i].get<std::size_t>() - done[i - 1].get<std::size_t>(), done[1].get<std::size_t>());
    }
  }
}

TEST(Curve, OfExecutorsContinuesWhatTheDriverSaw) {
  Curve driver;
  for (const std::size_t i : {0, 3, 6, 9}) driver.add(step(i, {{"loss", 1}}), static_cast<double>(i));
  Curve executors;
  for (const std::size_t i : {5, 6, 7}) executors.add(step(i, {{"loss", 2}}), static_cast<double>(i - 5));
  driver.continue_with(Curve::from_json(executors.to_json(), 100));
  const Json json = driver.to_json();
  EXPECT_EQ(json.at("done"), Json({0, 3, 5, 6, 7}));
  EXPECT_EQ(json.at("seconds"), Json({0.0, 3.0, 100.0, 101.0, 102.0}));
  EXPECT_EQ(json.at("metrics").at("loss"), Json({1.0, 1.0, 2.0, 2.0, 2.0}));
}

TEST(Curve, WithoutMeasuresThereIsNothingToDraw) {
  Curve curve;
  EXPECT_FALSE(curve.has_metrics());
  curve.add(step(1, {}), 0);
  EXPECT_FALSE(curve.has_metrics());
  curve.add(step(2, {{"loss", 1}}), 0);
  EXPECT_TRUE(curve.has_metrics());
}

}  // namespace
}  // namespace podere::report
