#include "podere/scaling/model.h"

#include <gtest/gtest.h>

#include "podere/base/error.h"
#include "podere/scaling/conclusions.h"
#include "podere/scaling/messages.h"

namespace podere::scaling {
namespace {

const Network kHere = {.latency_us = 10, .gigabits = 80};

/// A study whose times follow `law`(executors, cores).
template <typename Law>
Study study_by(const std::vector<Shape>& shapes, const Law& law, const std::vector<Collectives>& collectives = {}) {
  Study study{.command = "podere train gbt a.csv",
              .weak_rows = {},
              .cpu = "a cpu",
              .usable_cores = 4,
              .runs = {},
              .network = kHere};
  for (const auto& [executors, cores] : shapes) {
    Run run{.executors = executors, .cores = cores, .seconds = law(executors, cores), .rows = 10};
    if (executors == 2) run.collectives = collectives;
    study.runs.push_back(run);
  }
  return study;
}

TEST(Messages, OfOneExecutorTakeNoTime) { EXPECT_EQ(message_seconds({{"all_reduce", 100, 1000}}, 2, 1, kHere), 0); }

TEST(Messages, TakeStepsTimesLatencyAndBytesOverBandwidth) {
  const Network network = {.latency_us = 100, .gigabits = 8};  // 1 GB/s
  // Short: log2 8 steps, each with all bytes. Two executors sent what they put in.
  EXPECT_NEAR(message_seconds({{"all_reduce", 10, 80}}, 2, 8, network), 10 * 3 * 1e-4 + 3 * 80e-9, 1e-12);
  // Long: a ring of 2 * 7 steps and 2 * 7/8 of the bytes.
  EXPECT_NEAR(message_seconds({{"all_reduce", 1, 100'000'000}}, 2, 8, network), 14e-4 + 0.175, 1e-9);
  // Two executors sent half of what they put in: 7 of 8 parts of 2 GB.
  EXPECT_NEAR(message_seconds({{"reduce_scatter", 1, 1'000'000'000}}, 2, 8, network), 7e-4 + 1.75, 1e-9);
  EXPECT_NEAR(message_seconds({{"reduce_scatter", 1, 1'000'000'000}}, 2, 128, network), 7e-4 + 2 * 127.0 / 128, 1e-9);
  // Each sends its own to all others: counted on 4, three times.
  EXPECT_NEAR(message_seconds({{"all_gather", 1, 3000}}, 4, 8, network), 3e-4 + 7e-6, 1e-12);
  EXPECT_NEAR(message_seconds({{"broadcast", 2, 1000}}, 2, 4, network), 2 * 2e-4 + 2e-6, 1e-12);
}

TEST(Model, FindsAmdahlsLaw) {
  const auto law = [](int n, int c) { return 0.5 + 12.0 / (n * c); };
  const Study study = study_by({{1, 1}, {1, 2}, {2, 1}, {2, 2}}, law);
  const Model model = fit(study, std::nullopt);
  EXPECT_NEAR(model.serial_seconds, 0.5, 1e-9);
  EXPECT_NEAR(model.parallel_seconds, 12, 1e-9);
  EXPECT_NEAR(model.largest_deviation, 0, 1e-9);
  EXPECT_NEAR(model.seconds({25, 1}, model.network), law(25, 1), 1e-9);
}

TEST(Model, AddsTheMessagesOfTheNetworkThatIsGiven) {
  const std::vector<Collectives> collectives = {{"all_reduce", 1000, 8000}, {"reduce_scatter", 500, 4'000'000'000}};
  const auto law = [&](int n, int c) { return 0.5 + 12.0 / (n * c) + message_seconds(collectives, 2, n, kHere); };
  const Study study = study_by({{1, 1}, {1, 2}, {2, 1}}, law, collectives);
  const Model here = fit(study, std::nullopt);
  EXPECT_NEAR(here.serial_seconds, 0.5, 1e-9);
  EXPECT_NEAR(here.seconds({16, 1}, here.network), law(16, 1), 1e-9);
  const Network slow = {.latency_us = 200, .gigabits = 1};
  const Model elsewhere = fit(study, slow);
  EXPECT_NEAR(elsewhere.serial_seconds, 0.5, 1e-9);  // of the measured points, which the given network does not join
  EXPECT_NEAR(elsewhere.seconds({16, 1}, elsewhere.network),
              0.5 + 12.0 / 16 + message_seconds(collectives, 2, 16, slow), 1e-9);
  EXPECT_NE(in_words(elsewhere).find("200 µs a step, 1 Gbit/s, as --network says"), std::string::npos)
      << in_words(elsewhere);
}

TEST(Model, SaysHowFarItIsFromWhatWasMeasured) {
  const auto law = [](int n, int c) { return n == 2 ? 10.0 : 0.5 + 12.0 / (n * c); };  // which is no Amdahl's law
  const Model model = fit(study_by({{1, 1}, {1, 2}, {2, 1}}, law), std::nullopt);
  EXPECT_NEAR(model.largest_deviation, 0.246, 0.001);
  EXPECT_EQ(model.deviating, (Shape{2, 1}));
  EXPECT_NE(in_words(model).find("differs by up to"), std::string::npos);
}

TEST(Model, HasNoTimesBelowZero) {
  const Model better = fit(study_by({{1, 1}, {1, 2}, {2, 1}}, [](int n, int c) { return 12.0 / (n * n * c * c); }), {});
  EXPECT_EQ(better.serial_seconds, 0);
  EXPECT_GT(better.parallel_seconds, 0);
  const Model worse = fit(study_by({{1, 1}, {1, 2}, {2, 1}}, [](int n, int c) { return 3.0 * n * c; }), {});
  EXPECT_EQ(worse.parallel_seconds, 0);
  EXPECT_GT(worse.serial_seconds, 0);
}

TEST(Model, OfTooLittleIsRefused) {
  EXPECT_NO_THROW(check_can_model({{1, 1}, {1, 2}, {2, 1}}, {25}));
  EXPECT_THROW(check_can_model({{1, 1}, {2, 1}, {2, 1}}, {25}), InputError);  // two points, one of them twice
  EXPECT_THROW(check_can_model({{1, 4}, {2, 2}, {4, 1}}, {25}), InputError);  // all of 4 cores
  EXPECT_THROW(check_can_model({{1, 1}, {1, 2}, {1, 4}}, {25}), InputError);  // no messages
  EXPECT_THROW(check_can_model({{1, 2}, {2, 2}, {4, 2}}, {25}), InputError);  // no executors of 2 cores make 25
}

TEST(Model, GivesAPointForEachMeasuredNumberOfCores) {
  const Study study = study_by({{1, 1}, {1, 2}, {2, 1}}, [](int n, int c) { return 1 + 9.0 / (n * c); });
  const Conclusions found = conclude(study, {.modeled_cores = {25, 2, 4}, .network = {}, .suggests = false});
  std::vector<Shape> modeled;
  for (const Point& point : found.points) {
    if (point.is_modeled) modeled.push_back(point.shape());
  }
  EXPECT_EQ(modeled, (std::vector<Shape>{{2, 2}, {4, 1}, {25, 1}}));  // 2 cores are measured
  EXPECT_NEAR(found.points.back().seconds, 1.36, 1e-9);
  EXPECT_NEAR(found.points.back().efficiency, 10 / 1.36 / 25, 1e-9);
  const Json json = to_json(study, found);
  EXPECT_EQ(json.at("points").back().at("modeled"), true);
  EXPECT_EQ(json.at("points").front().at("modeled"), false);
  EXPECT_FALSE(json.at("points").back().contains("least_seconds"));
  // None of it is read as measured.
  EXPECT_EQ(study_of_text(to_text(json), "s.json").runs.size(), 3);
}

}  // namespace
}  // namespace podere::scaling
