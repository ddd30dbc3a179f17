// The same coefficients, bit for bit, however the rows are spread.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/linear/kernel_ridge.h"
#include "podere/linear/linear.h"

namespace podere::linear {
namespace {

const comm::Communicator& world() {
  static const auto group = comm::Communicator::world();
  return group;
}
const comm::Communicator& alone() {
  static const auto group = comm::Communicator::self();
  return group;
}

constexpr std::size_t kFeatures = 6;

table::Table made_up(std::uint64_t n_rows, bool has_weights, const comm::Communicator& comm) {
  table::Schema schema{.features = {"a", "b", "c", "d", "e", "f"}, .label = "y"};
  if (has_weights) schema.weight = "w";
  table::Table table(schema, n_rows, table::rows_of(n_rows, comm.rank(), comm.size()));
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    const std::uint64_t row = table.global({i}).value;
    double y = uniform01(hash64(1, 100, row));
    for (std::size_t j = 0; j < kFeatures; ++j) {
      table.feature(j)[i] = static_cast<float>(uniform01(hash64(1, j, row)) * std::pow(10, static_cast<double>(j)));
      y += double{table.feature(j)[i]} / static_cast<double>(j + 1);
    }
    table.label()[i] = static_cast<float>(y);
    if (has_weights) table.weight()[i] = static_cast<float>(hash64(2, 0, row) % 4);
  }
  return table;
}

algorithm::Trained train(const algorithm::Algorithm& algorithm, const table::Table& table, const Json& options,
                         const comm::Communicator& comm, int n_threads) {
  Progress progress;
  algorithm::Summaries summaries;
  return algorithm.trainer(options)->train(
      table::HeldRows(table), nullptr,
      {.comm = comm, .n_threads = n_threads, .progress = progress, .summaries = summaries});
}

std::string outcome(const algorithm::Algorithm& algorithm, std::uint64_t n_rows, bool has_weights, const Json& options,
                    const comm::Communicator& comm, int n_threads) {
  const auto trained = train(algorithm, made_up(n_rows, has_weights, comm), options, comm, n_threads);
  return trained.model->to_text() + trained.facts.dump();
}

void expect_the_same_everywhere(const algorithm::Algorithm& algorithm, const std::vector<Json>& choices) {
  for (const std::uint64_t n_rows : {std::uint64_t{100}, std::uint64_t{20000}}) {  // of 100 ranks are left without rows
    for (const bool has_weights : {false, true}) {
      for (const Json& options : choices) {
        const std::string expected = outcome(algorithm, n_rows, has_weights, options, alone(), 1);
        for (const int n_threads : {1, 3}) {
          EXPECT_EQ(outcome(algorithm, n_rows, has_weights, options, world(), n_threads), expected) << options;
        }
      }
    }
  }
}

TEST(LinearDistributed, CoefficientsDoNotDependOnRanksOrThreads) {
  expect_the_same_everywhere(linear_regression(), {{{"l2", 0}}, {{"l2", 2.5}, {"standardize", true}}});
}

TEST(LinearDistributed, KernelRidgeDoesNotDependOnRanksOrThreads) {
  expect_the_same_everywhere(
      kernel_ridge(), {{{"random_features", 30}, {"standardize", true}},
                       {{"random_features", 30}, {"solver", "cg"}, {"tolerance", 1e-9}, {"gamma", 1e-3}, {"seed", 7}}});
}

TEST(LinearDistributed, AllRanksNameTheFirstRowWithoutANumber) {
  auto table = made_up(9000, false, world());
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    if (table.global({i}).value >= 8500) table.feature(2)[i] = std::numeric_limits<float>::quiet_NaN();
  }
  try {
    train(linear_regression(), table, {{"l2", 0}}, world(), 1);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(
        error.what(),
        "row 8500, column 'c': the value is missing (NaN), and linear models need numbers: leave the row or the "
        "column out");
  }
}

}  // namespace
}  // namespace podere::linear
