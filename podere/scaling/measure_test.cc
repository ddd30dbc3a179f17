#include "podere/scaling/measure.h"

#include <gtest/gtest.h>

#include <fstream>

#include "podere/base/error.h"
#include "podere/base/interrupt.h"
#include "podere/base/temporary_folder.h"

namespace podere::scaling {
namespace {

/// A program that takes 8 s on one core, writes the words "model" and has `rows`.
class FakeProgram {
 public:
  Json operator()(const Words& words) {
    calls.push_back(words);
    if (calls.size() == fails_at) throw_error("the command ended with 1: the disk is full");
    const auto value = [&](const char* option) { return *(std::ranges::find(words, option) + 1); };
    const double cores = std::stod(value("--executors")) * std::stod(value("--cores"));
    if (std::ranges::find(words, "-o") != words.end()) std::ofstream(value("-o")) << "model";
    return {{"rows", rows},
            {"losses", Json::array()},
            {"start_seconds", 0.25},
            {"communication", {{"all_reduce", {{"calls", 7}, {"bytes", 80}, {"seconds", 1.0}}}}},
            {"metrics",
             {{"job",
               {{"elapsed_seconds", 8 / cores},
                {"task_seconds", 8.0},
                {"wait_seconds", 2.0},
                {"rows_read", 1},
                {"peak_memory_bytes", 1000}}},
              {"phases", {{{"phase", "train"}, {"elapsed_seconds", 7 / cores}}}}}}};
  }

  std::vector<Words> calls;
  std::uint64_t rows = 100;
  std::size_t fails_at = 0;
};

class Measure : public testing::Test {
 protected:
  void run() {
    measure_missing(plan, study, std::ref(program), progress, [&] { ++n_kept; });
  }

  TemporaryFolder folder{testing::TempDir()};
  Plan plan{.command = {"train", "gbt", "a.csv"},
            .shapes = {{1, 1}, {2, 1}},
            .n_repeats = 2,
            .weak_rows = {},
            .output = folder.path() / "output"};
  Study study;
  FakeProgram program;
  Progress progress;
  int n_kept = 0;
};

TEST_F(Measure, RunsEachPointOnceBeforeAnyTwice) {
  run();
  ASSERT_EQ(study.runs.size(), 4);
  EXPECT_EQ(n_kept, 4);
  EXPECT_EQ(study.runs[1].shape(), (Shape{2, 1}));
  EXPECT_EQ(study.runs[2].shape(), (Shape{1, 1}));
  const scaling::Run& second = study.runs[1];
  EXPECT_EQ(second.seconds, 4);
  EXPECT_EQ(second.wait_share, 0.25);
  EXPECT_EQ(second.rows, 100);
  EXPECT_EQ(second.phases.at(0).seconds, 3.5);
  EXPECT_EQ(second.collectives.at(0).calls, 7);
  EXPECT_EQ(second.sha256.size(), 64);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST_F(Measure, RunsOnlyWhatIsMissing) {
  plan.n_repeats = 1;
  run();
  plan.n_repeats = 2;
  plan.shapes = {{1, 1}, {1, 2}};
  run();
  EXPECT_EQ(program.calls.size(), 2 + 3);
  EXPECT_EQ(study.runs.size(), 5);
}

TEST_F(Measure, KeepsWhatItHasWhereARunFails) {
  program.fails_at = 3;
  EXPECT_THROW(run(), Error);
  EXPECT_EQ(study.runs.size(), 2);
  EXPECT_EQ(n_kept, 2);
  run();
  EXPECT_EQ(study.runs.size(), 4);
}

TEST_F(Measure, OfOtherRowsIsRefused) {
  plan.n_repeats = 1;
  run();
  program.rows = 99;
  plan.n_repeats = 2;
  EXPECT_THROW(run(), InputError);
  EXPECT_EQ(study.runs.size(), 2);
}

TEST_F(Measure, OfWeakScalingGivesEachCoreItsRows) {
  plan.weak_rows = 100;
  plan.shapes = {{1, 1}};
  plan.n_repeats = 1;
  run();
  EXPECT_EQ(program.calls.at(0).back(), ":100");
  plan.shapes = {{2, 1}};  // of which the program has 100 still
  EXPECT_THROW(run(), InputError);
}

TEST_F(Measure, OfNetworksGoesWhereTheCommandGoes) {
  Words words;
  const Network found = measure_network({"train", "gbt", "a.csv", "--on", "slurm"}, 3, [&](const Words& asked) -> Json {
    words = asked;
    return {{"latency_us", 12.5}, {"gigabits", 9.5}};
  });
  EXPECT_EQ(words, (Words{"network", "--executors", "3", "--cores", "1", "--json", "--on", "slurm"}));
  EXPECT_EQ(found.latency_us, 12.5);
  EXPECT_EQ(found.gigabits, 9.5);
}

}  // namespace
}  // namespace podere::scaling
