#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "podere/base/hash.h"
#include "podere/table/few_rows.h"
#include "podere/tree/test_tables.h"
#include "podere/tree/train.h"

namespace podere::tree {
namespace {

constexpr std::uint64_t kRows = 120;

float weight_of(std::uint64_t row) { return static_cast<float>(hash64(5, 0, row) % 4); }

/// Rows of random_table by their numbers there, all on one rank of `comm`.
table::Table rows_of_numbers(const std::vector<std::uint64_t>& numbers, Objective objective, bool has_weight,
                             const comm::Communicator& comm) {
  const table::Table all = random_table({.n_rows = kRows, .objective = objective, .has_missing = true}, alone());
  const std::uint64_t n = numbers.size();
  table::Table table(numbered_schema(all.n_features(), has_weight), n, table::rows_of(n, comm.rank(), comm.size()));
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    for (std::size_t j = 0; j < all.n_columns(); ++j) table.column(j)[i] = all.column(j)[numbers[i]];
    if (has_weight) table.weight()[i] = weight_of(numbers[i]);
  }
  return table;
}

std::vector<std::uint64_t> shuffled(std::vector<std::uint64_t> numbers, std::uint64_t seed) {
  for (std::size_t i = numbers.size(); i > 1; --i) std::swap(numbers[i - 1], numbers[hash64(seed, 1, i) % i]);
  return numbers;
}

std::vector<Tree> trees_of(const table::Table& table, const Options& options, const comm::Communicator& comm) {
  Progress silent;
  return train(table::HeldRows(table), nullptr, options, comm, 2, silent).trees;
}

class FewRows : public testing::TestWithParam<Objective> {};

TEST_P(FewRows, GiveOneModelInAnyOrderAndRepeatedInsteadOfWeighted) {
  const Options options{.objective = GetParam(),
                        .n_classes = GetParam() == Objective::kSoftmax ? 4 : 0,
                        .n_trees = 8,
                        .depth = 4,
                        .bins = 16,
                        .subsample = 0.7};
  std::vector<std::uint64_t> once;
  std::vector<std::uint64_t> repeated;
  for (std::uint64_t row = 0; row < kRows; ++row) {
    once.push_back(row);
    repeated.insert(repeated.end(), static_cast<std::size_t>(weight_of(row)), row);
  }
  const auto of = [&](const std::vector<std::uint64_t>& numbers, bool has_weight, const comm::Communicator& comm) {
    return trees_of(rows_of_numbers(numbers, GetParam(), has_weight, comm), options, comm);
  };
  const std::vector<Tree> expected = of(repeated, false, alone());
  EXPECT_EQ(of(shuffled(repeated, 1), false, world()), expected);
  EXPECT_EQ(of(once, true, alone()), expected);
  EXPECT_EQ(of(shuffled(once, 2), true, world()), expected);
}

INSTANTIATE_TEST_SUITE_P(Objectives, FewRows,
                         testing::Values(Objective::kBinaryLogistic, Objective::kSquaredError, Objective::kSoftmax,
                                         Objective::kPoisson, Objective::kQuantile));

TEST(FewRowsOnly, AreCanonicalized) {
  const auto form_of = [](std::vector<float> weight) {
    std::vector<float> x(weight.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(x.size() - i);
    const table::Table table = make_table({x}, std::vector<float>(weight.size(), 1), weight);
    return table::canonicalize(
        table::HeldRows(table), [](const table::Table&) {}, alone());
  };
  const auto form = form_of({2, 0, 1});
  ASSERT_TRUE(form);
  EXPECT_EQ(form->n_global_rows(), 3U);
  EXPECT_EQ(std::vector<float>(form->feature(0).begin(), form->feature(0).end()), (std::vector<float>{1, 3, 3}));
  EXPECT_EQ(std::vector<float>(form->weight().begin(), form->weight().end()), (std::vector<float>{1, 1, 1}));
  EXPECT_TRUE(form_of(std::vector<float>(table::kBlockRows, 1)));
  EXPECT_FALSE(form_of(std::vector<float>(table::kBlockRows + 1, 1)));
  EXPECT_FALSE(form_of(std::vector<float>(2, table::kBlockRows)));
  EXPECT_FALSE(form_of({0, 0}));
  EXPECT_FALSE(form_of({1, 0.5}));
  EXPECT_FALSE(form_of({1, -1}));
  EXPECT_FALSE(form_of({1, std::numeric_limits<float>::quiet_NaN()}));
  EXPECT_FALSE(form_of({1, std::numeric_limits<float>::infinity()}));
}

}  // namespace
}  // namespace podere::tree
