// The same forest, bit for bit, however the rows are spread.
#include <gtest/gtest.h>

#include <string>

#include "podere/base/error.h"
#include "podere/isolation/test_rows.h"

namespace podere::isolation {
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
std::string outcome(std::uint64_t n_rows, const Json& options, const comm::Communicator& comm, int n_threads) {
  const table::Table table = rows_with_anomalies(n_rows, comm);
  const auto trained = train(table::HeldRows(table), comm, n_threads, options);
  return trained.model->to_text() + trained.facts.dump() +
         trained.model->measures_of_rows(table, comm, n_threads).dump();
}

TEST(IsolationDistributed, ForestsDoNotDependOnRanksOrThreads) {
  for (const std::uint64_t n_rows : {std::uint64_t{100}, std::uint64_t{20000}}) {  // of 100 ranks are left without rows
    for (const Json& options : {Json{{"n_trees", 20}}, Json{{"n_trees", 10}, {"share", 0.03}, {"seed", 7}}}) {
      const std::string expected = outcome(n_rows, options, alone(), 1);
      for (const int n_threads : {1, 3}) EXPECT_EQ(outcome(n_rows, options, world(), n_threads), expected) << options;
    }
  }
}

TEST(IsolationDistributed, RowsThatAreNotInMemoryGiveTheSameForest) {
  constexpr std::uint64_t kRows = 20000;
  const Json options = {{"n_trees", 20}, {"share", 0.05}};
  const table::ReadRows rows(schema_of_rows(), kRows, table::rows_of(kRows, world().rank(), world().size()), fill_rows,
                             /*window_bytes=*/1 << 16);
  const auto streamed = train(rows, world(), 2, options);
  const table::Table table = rows_with_anomalies(kRows, alone());
  const auto held = train(table::HeldRows(table), alone(), 1, options);
  EXPECT_EQ(streamed.model->to_text(), held.model->to_text());
  EXPECT_EQ(streamed.facts, held.facts);
}

TEST(IsolationDistributed, AllRanksNameTheRowWithoutACategory) {
  table::Table table = rows_with_anomalies(9000, world());
  const std::uint64_t row = 7777;
  if (table.rows().begin <= row && row < table.rows().end) table.feature(3)[row - table.rows().begin] = 0.5F;
  try {
    train(table::HeldRows(table), world(), 2, {{"sample", 9000}});
    FAIL() << "nothing was refused";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()),
              "training data: kind of row 7777 is 0.5, allowed is the code of a category, 0 to 16777215");
  }
}

TEST(IsolationDistributed, AStopRequestOnRankZeroEndsAllRanksAlike) {
  struct StopOnRoot : Progress {
    bool stop_requested() override { return world().is_root(); }
  };
  const table::Table table = wide_rows(3000, world());
  const Json options = {{"n_trees", 200}};  // are not grown all at once
  const auto trained = train(table::HeldRows(table), world(), 1, options, StopOnRoot());
  const auto n_trees = trained.facts.at("trees").get<std::uint64_t>();
  EXPECT_LT(n_trees, 200U);
  EXPECT_EQ(world().all_reduce(n_trees, comm::Reduction::kMax), n_trees);
}

}  // namespace
}  // namespace podere::isolation
