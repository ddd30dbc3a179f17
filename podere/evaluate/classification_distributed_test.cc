#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "podere/base/error.h"
#include "podere/evaluate/classification.h"
#include "podere/evaluate/histograms.h"
#include "podere/evaluate/random_rows.h"
#include "podere/evaluate/regression.h"

namespace podere::evaluate {
namespace {

std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

/// The part of [0, n) that a rank holds: uneven, and nothing on rank 1.
Rows part_of(std::uint64_t seed, std::uint64_t n, const comm::Communicator& world, int n_classes) {
  const auto rank = static_cast<std::uint64_t>(world.rank());
  const auto n_ranks = static_cast<std::uint64_t>(world.size());
  if (n_ranks == 1) return random_rows(seed, 0, n, n_classes);
  const auto cut = [&](std::uint64_t r) { return r == 2 ? n / n_ranks : n * r * r / (n_ranks * n_ranks); };
  const std::uint64_t begin = rank == 0 ? 0 : rank == 1 ? cut(2) : cut(rank);
  const std::uint64_t end = rank == 0 || rank == 1 ? (n_ranks == 2 ? n : cut(2)) : cut(rank + 1);
  return random_rows(seed, rank == 1 ? end : begin, end, n_classes);
}

/// Calls `check` with rows spread over the ranks and the same rows whole, weighted and not.
void for_many_tables(int n_classes, const std::function<void(const Rows& mine, const Rows& all)>& check) {
  const auto world = comm::Communicator::world();
  for (const std::uint64_t n : {0ULL, 1ULL, 2ULL, 9ULL, 1003ULL, 30011ULL}) {
    Rows mine = part_of(n, n, world, n_classes);
    Rows all = random_rows(n, 0, n, n_classes);
    ASSERT_EQ(world.all_reduce(static_cast<std::uint64_t>(mine.scores.size()), comm::Reduction::kSum), n);
    check(mine, all);
    mine.weights.clear();
    all.weights.clear();
    check(mine, all);
  }
}

TEST(ClassificationDistributed, LossesHaveTheBitsThatOneRankFinds) {
  const auto world = comm::Communicator::world();
  const auto self = comm::Communicator::self();
  for_many_tables(2, [&](const Rows& mine, const Rows& all) {
    EXPECT_EQ(bits(log_loss(world, mine.scores, mine.labels, mine.weights)),
              bits(log_loss(self, all.scores, all.labels, all.weights)));
    EXPECT_EQ(bits(root_mean_squared_error(world, mine.scores, mine.labels, mine.weights)),
              bits(root_mean_squared_error(self, all.scores, all.labels, all.weights)));
    EXPECT_EQ(bits(mean_absolute_error(world, mine.scores, mine.labels, mine.weights)),
              bits(mean_absolute_error(self, all.scores, all.labels, all.weights)));
    EXPECT_EQ(bits(mean_poisson_deviance(world, mine.scores, mine.labels, mine.weights)),
              bits(mean_poisson_deviance(self, all.scores, all.labels, all.weights)));
    EXPECT_EQ(bits(pinball_loss(world, mine.scores, mine.labels, mine.weights, 0.3)),
              bits(pinball_loss(self, all.scores, all.labels, all.weights, 0.3)));
  });
  for_many_tables(3, [&](const Rows& mine, const Rows& all) {
    const auto probabilities = [](const Rows& rows) {
      std::vector<float> result;
      for (const float factor : {1.0F, 0.6F, 0.3F}) {
        for (const float score : rows.scores) result.push_back(score * factor);
      }
      return result;
    };
    EXPECT_EQ(bits(multi_log_loss(world, probabilities(mine), 3, mine.labels, mine.weights)),
              bits(multi_log_loss(self, probabilities(all), 3, all.labels, all.weights)));
  });
}

TEST(ClassificationDistributed, ConfusionMatrixIsThatOfOneRank) {
  const auto world = comm::Communicator::world();
  const auto self = comm::Communicator::self();
  for_many_tables(4, [&](const Rows& mine, const Rows& all) {
    const auto predicted = [](const Rows& rows) {
      std::vector<std::int32_t> classes;
      for (const float score : rows.scores) classes.push_back(static_cast<std::int32_t>(score * 16) % 4);
      return classes;
    };
    const auto found = confusion_matrix(world, predicted(mine), 4, mine.labels, mine.weights);
    const auto expected = confusion_matrix(self, predicted(all), 4, all.labels, all.weights);
    EXPECT_EQ(found.counts, expected.counts);
    EXPECT_EQ(bits(found.accuracy()), bits(expected.accuracy()));
  });
}

TEST(ClassificationDistributed, RocHasTheBitsThatOneRankFinds) {
  const auto world = comm::Communicator::world();
  const auto self = comm::Communicator::self();
  for_many_tables(2, [&](const Rows& mine, const Rows& all) {
    EXPECT_EQ(bits(auc(world, mine.scores, mine.labels, mine.weights)),
              bits(auc(self, all.scores, all.labels, all.weights)));
    for (const std::size_t max_points : {2UL, 7UL, 300UL, 100000UL}) {
      const Roc found = roc(world, mine.scores, mine.labels, mine.weights, max_points);
      const Roc expected = roc(self, all.scores, all.labels, all.weights, max_points);
      EXPECT_EQ(bits(found.auc), bits(expected.auc));
      ASSERT_EQ(found.points.size(), expected.points.size());
      for (std::size_t i = 0; i < found.points.size(); ++i) {
        EXPECT_EQ(bits(found.points[i].threshold), bits(expected.points[i].threshold));
        EXPECT_EQ(bits(found.points[i].false_positive_rate), bits(expected.points[i].false_positive_rate));
        EXPECT_EQ(bits(found.points[i].true_positive_rate), bits(expected.points[i].true_positive_rate));
      }
    }
  });
}

TEST(ClassificationDistributed, HistogramsAreThoseOfOneRank) {
  const auto world = comm::Communicator::world();
  const auto self = comm::Communicator::self();
  for_many_tables(2, [&](const Rows& mine, const Rows& all) {
    EXPECT_EQ(score_histogram(world, mine.scores, mine.labels, mine.weights, 40),
              score_histogram(self, all.scores, all.labels, all.weights, 40));
    EXPECT_EQ(residual_histogram(world, mine.scores, mine.labels, mine.weights, 0.5, 9).weights,
              residual_histogram(self, all.scores, all.labels, all.weights, 0.5, 9).weights);
  });
}

TEST(ClassificationDistributed, TiesAcrossAllRanksAreOneTie) {
  const auto world = comm::Communicator::world();
  const std::vector<float> scores(100, 0.5F);
  std::vector<float> labels(100, 0.0F);
  for (std::size_t i = 0; i < 30; ++i) labels[i] = 1;
  EXPECT_EQ(auc(world, scores, labels, {}), 0.5);
  EXPECT_EQ(roc(world, scores, labels, {}, 10).points.size(), 2U);
}

TEST(ClassificationDistributed, WhatOneRankRefusesAllRefuse) {
  const auto world = comm::Communicator::world();
  const bool is_last = world.rank() == world.size() - 1;
  const std::vector<float> scores = {0.5F, is_last ? std::numeric_limits<float>::quiet_NaN() : 0.25F};
  const std::vector<float> bad_labels = {0, is_last ? 3.0F : 1.0F};
  EXPECT_THROW(auc(world, scores, std::vector{0.0F, 1.0F}, {}), InputError);
  EXPECT_THROW(log_loss(world, std::vector{0.5F, 0.5F}, bad_labels, {}), InputError);
  EXPECT_THROW(confusion_matrix(world, std::vector{0, 1}, 2, bad_labels, {}), InputError);
}

}  // namespace
}  // namespace podere::evaluate
