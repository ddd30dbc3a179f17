// Workers and servers. What they learn differs from run to run, but not what they may do.
#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "podere/base/error.h"
#include "podere/neural/test_training.h"

namespace podere::neural {
namespace {

struct Trained {
  Model model;
  TrainReport report;
};

Trained train_all(const Options& options, const RandomTable& want = {.n_rows = 20000}, const RunControl& control = {}) {
  Progress progress;
  const table::Table table = random_table(want, world());
  const table::Table validation = random_table({.n_rows = 4000, .loss = want.loss, .seed = 77}, world());
  Trained trained;
  trained.model = train(table::HeldRows(table), &validation, options, world(), 2, progress, &trained.report, control);
  return trained;
}

Options options_of(int servers, int staleness) {
  return {.hidden = {20},
          .epochs = 10,
          .batch_size = 100,
          .learning_rate = 0.003,
          .servers = servers,
          .staleness = staleness};
}

/// Workers that have rows: of 20 row blocks.
std::uint64_t n_workers(int servers) { return static_cast<std::uint64_t>(world().size() - servers); }

class ParameterServersTest : public testing::Test {
 protected:
  void SetUp() override {
    if (world().size() < 2) GTEST_SKIP() << "needs a worker and a server";
  }
};

TEST_F(ParameterServersTest, AsynchronousWorkersLearnWhatOneExecutorDoes) {
  const std::vector<double> alone = train_all(options_of(0, 0)).model.history.validation_loss;
  for (int servers = 1; servers <= std::min(2, world().size() - 1); ++servers) {
    for (const int staleness : {-1, 1, 4}) {
      const auto [model, report] = train_all(options_of(servers, staleness));
      EXPECT_EQ(model.history.validation_loss.size(), 10U);
      // How stale gradients are without a bound is the machine's choice, and with it how much is learned.
      const double most = staleness < 0 ? (alone.front() + alone.back()) / 2 : alone.back() + 0.05;
      EXPECT_LT(model.history.validation_loss.back(), most) << servers << " servers, staleness " << staleness;
      EXPECT_EQ(report.n_steps, 10 * report.steps_per_epoch);
      EXPECT_EQ(report.servers.steps_per_second.size(), n_workers(servers));
      EXPECT_EQ(std::accumulate(report.servers.staleness.begin(), report.servers.staleness.end(), std::uint64_t{0}),
                report.n_steps);
    }
  }
}

TEST_F(ParameterServersTest, StalenessIsBoundedByHowFarWorkersMayBeAhead) {
  for (const int staleness : {1, 2}) {
    const auto report = train_all(options_of(1, staleness)).report;
    // A gradient lacks the one before it, and from each other worker those that the bound allows it on both ends.
    const std::uint64_t most = 1 + (n_workers(1) - 1) * static_cast<std::uint64_t>(2 * staleness + 2);
    for (std::size_t i = most + 1; i < report.servers.staleness.size(); ++i) {
      EXPECT_EQ(report.servers.staleness[i], 0U) << i << " steps with a bound of " << staleness;
    }
  }
}

TEST_F(ParameterServersTest, SynchronousWorkersStepTogetherAndRunsRepeat) {
  for (int servers = 1; servers <= std::min(3, world().size() - 1); ++servers) {
    const auto [model, report] = train_all(options_of(servers, 0));
    EXPECT_EQ(report.servers.staleness[0], report.n_steps);
    EXPECT_GE(report.n_steps, 10 * report.steps_per_epoch);
    EXPECT_LT(report.n_steps, 10 * report.steps_per_epoch + n_workers(servers));
    EXPECT_EQ(model.history.validation_loss.size(), 10U);
    EXPECT_EQ(to_text(train_all(options_of(servers, 0)).model), to_text(model));
  }
}

TEST_F(ParameterServersTest, OneSynchronousWorkerTakesTheStepsOfOneExecutor) {
  for (const Options& base : {options_of(0, 0), Options{.hidden = {20, 10},
                                                .optimizer = Optimizer::kSgd,
                                                .epochs = 3,
                                                .batch_size = 200,
                                                .learning_rate = 0.02,
                                                .schedule = Schedule::kExponential,
                                                .l2 = 1e-3,
                                                .clip_norm = 0.5}}) {
    Options options = base;
    options.servers = world().size() - 1;
    const Model expected = train_all(base).model;
    const Model model = train_all(options).model;
    for (std::size_t epoch = 0; epoch < expected.history.train_loss.size(); ++epoch) {
      EXPECT_NEAR(model.history.train_loss[epoch], expected.history.train_loss[epoch], 2e-4);
    }
    for (std::size_t i = 0; i < expected.weights.size(); ++i) ASSERT_NEAR(model.weights[i], expected.weights[i], 0.02);
  }
}

TEST_F(ParameterServersTest, WorkersWithoutRowsAreNotWaitedFor) {
  for (const int staleness : {0, 2, -1}) {
    const auto [model, report] = train_all(options_of(1, staleness), {.n_rows = 1100});
    EXPECT_GE(report.n_steps, 10 * report.steps_per_epoch);
    for (std::size_t w = 2; w < report.servers.steps_per_second.size(); ++w) {
      EXPECT_EQ(report.servers.steps_per_second[w], 0);
    }
  }
}

TEST_F(ParameterServersTest, ServersMayBeMoreThanThereAreWeightsFor) {
  const int servers = world().size() - 1;
  Options options = options_of(servers, -1);
  options.hidden = {};
  options.epochs = 2;
  const auto [model, report] = train_all(options, {.n_rows = 2000, .n_features = 2});
  EXPECT_EQ(report.n_steps, 2 * report.steps_per_epoch);
}

/// The checkpoint of a run after four of its ten epochs, by way of a file.
Checkpoint keep_after_4(const Options& options) {
  std::optional<Checkpoint> kept;
  const Hook keep = [&](const AfterStep& after) {
    if (after.is_epoch_over && after.history.train_loss.size() == 4) kept = after.make_checkpoint();
  };
  train_all(options, {.n_rows = 20000}, {.hooks = {keep}});
  return checkpoint_from_text(to_text(*kept), "checkpoint");
}

TEST_F(ParameterServersTest, ARunInStepResumesAsIfItHadNeverStopped) {
  const Options options = options_of(1, 0);
  const Checkpoint kept = keep_after_4(options);
  EXPECT_EQ(to_text(train_all(options, {.n_rows = 20000}, {.checkpoint = &kept}).model),
            to_text(train_all(options).model));
}

TEST_F(ParameterServersTest, AnAsynchronousRunResumesFromItsCheckpoint) {
  const Checkpoint kept = keep_after_4(options_of(1, 2));
  const auto [model, report] = train_all(options_of(1, 2), {.n_rows = 20000}, {.checkpoint = &kept});
  EXPECT_EQ(model.history.train_loss.size(), 10U);
  EXPECT_EQ(std::vector(model.history.train_loss.begin(), model.history.train_loss.begin() + 4),
            kept.model.history.train_loss);
  EXPECT_LT(model.history.validation_loss.back(), kept.model.history.validation_loss.back() + 0.05);
}

TEST_F(ParameterServersTest, EpochsCountAlikeForAnyNumberOfWorkers) {
  // Their steps differ: so a checkpoint of some workers must be one of others too.
  if (world().size() < 3) GTEST_SKIP() << "needs two workers";
  Options options = options_of(1, 0);
  options.early_stopping_epochs = 8;
  const Checkpoint kept = keep_after_4(options);
  const comm::Communicator fewer = world().split(world().rank() < 2 ? 0 : 1, world().rank());
  if (world().rank() >= 2) return;
  Progress progress;
  TrainReport report;
  const table::Table table = random_table({.n_rows = 20000}, fewer);
  const table::Table validation = random_table({.n_rows = 4000, .seed = 77}, fewer);
  const Model model =
      train(table::HeldRows(table), &validation, options, fewer, 1, progress, &report, {.checkpoint = &kept});
  EXPECT_EQ(model.history.train_loss.size(), 10U);
  EXPECT_FALSE(report.stopped_early);
  EXPECT_LT(report.n_steps, 10 * report.steps_per_epoch + n_workers(1));
}

TEST_F(ParameterServersTest, EndAtTheStepThatIsAskedFor) {
  for (const int staleness : {0, -1}) {
    const auto [model, report] = train_all(options_of(1, staleness), {.n_rows = 20000}, {.max_steps = 13});
    EXPECT_GE(report.n_steps, 13U);
    EXPECT_LT(report.n_steps, 13 + (staleness == 0 ? n_workers(1) : 1));
  }
}

TEST_F(ParameterServersTest, DivergenceIsReportedOnAllRanks) {
  for (const int staleness : {0, 1, -1}) {
    Options options = options_of(1, staleness);
    options.loss = Loss::kSquaredError;
    options.optimizer = Optimizer::kSgd;
    options.activation = Activation::kIdentity;
    options.learning_rate = 100;
    EXPECT_THROW(train_all(options, {.n_rows = 20000, .loss = Loss::kSquaredError}), InputError);
  }
}

TEST(ParameterServersErrorTest, ServersLeaveNoWorker) {
  try {
    train_all(options_of(world().size(), -1));
    FAIL() << "there is no worker";
  } catch (const InputError& error) {
    const std::string n = std::to_string(world().size());
    EXPECT_EQ(error.what(), "servers is " + n + ": that takes " + std::to_string(world().size() + 1) +
                                " executors at least, there are " + n);
  }
}

}  // namespace
}  // namespace podere::neural
