// The same clusters, bit for bit, however the rows are spread.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "podere/base/error.h"
#include "podere/cluster/kmeans.h"
#include "podere/cluster/mixture.h"
#include "podere/cluster/test_rows.h"

namespace podere::cluster {
namespace {

const comm::Communicator& world() {
  static const auto group = comm::Communicator::world();
  return group;
}
const comm::Communicator& alone() {
  static const auto group = comm::Communicator::self();
  return group;
}

/// Model, facts and measures of a training, which hang on nothing but the rows and the options.
std::string outcome(const algorithm::Algorithm& algorithm, std::uint64_t n_rows, bool has_weights, const Json& options,
                    const comm::Communicator& comm, int n_threads) {
  const table::Table table = rows_in_groups(n_rows, 5, comm, has_weights, 3);
  const auto trained = train(algorithm, table, comm, n_threads, options);
  return trained.model->to_text() + trained.facts.dump() +
         trained.model->measures_of_rows(table, comm, n_threads).dump();
}

void expect_same_outcomes(const algorithm::Algorithm& algorithm, const std::vector<Json>& all_options) {
  for (const std::uint64_t n_rows : {std::uint64_t{100}, std::uint64_t{20000}}) {  // of 100 ranks are left without rows
    for (const bool has_weights : {false, true}) {
      for (const Json& options : all_options) {
        const std::string expected = outcome(algorithm, n_rows, has_weights, options, alone(), 1);
        for (const int n_threads : {1, 3}) {
          EXPECT_EQ(outcome(algorithm, n_rows, has_weights, options, world(), n_threads), expected) << options;
        }
      }
    }
  }
}

TEST(ClusterDistributed, CentroidsDoNotDependOnRanksOrThreads) {
  expect_same_outcomes(kmeans(), {{{"n_clusters", 7}}, {{"n_clusters", 3}, {"standardize", true}, {"restarts", 2}}});
  expect_same_outcomes(kmeans(),
                       {{{"n_clusters", 5}, {"batch", 128}}, {{"n_clusters", 3}, {"batch", 1000}, {"restarts", 2}}});
}

TEST(ClusterDistributed, MixturesDoNotDependOnRanksOrThreads) {
  std::vector<Json> options;
  for (const char* covariance : {"full", "tied", "diagonal", "spherical"}) {
    options.push_back({{"n_clusters", 4}, {"covariance", covariance}, {"max_iterations", 10}});
  }
  expect_same_outcomes(mixture(), options);
}

TEST(ClusterDistributed, AllRanksNameTheFirstRowWithoutANumber) {
  auto table = rows_in_groups(9000, 5, world());
  for (const std::uint64_t row : {std::uint64_t{4444}, std::uint64_t{8888}}) {
    if (row < table.rows().begin || row >= table.rows().end) continue;
    table.feature(2)[row - table.rows().begin] = std::numeric_limits<float>::infinity();
  }
  try {
    train(kmeans(), table, world(), 2, Json::object());
    FAIL() << "nothing was refused";
  } catch (const InputError& error) {
    EXPECT_EQ(
        std::string(error.what()),
        "row 4444, column 'c': the value is infinite, and distances need numbers: leave the row or the column out");
  }
}

}  // namespace
}  // namespace podere::cluster
