#include "podere/scaling/suggest.h"

#include <gtest/gtest.h>

#include "podere/scaling/conclusions.h"

namespace podere::scaling {
namespace {

Run timed(int executors, int cores, double seconds, std::uint64_t memory = 100) {
  return {.executors = executors, .cores = cores, .seconds = seconds, .rows = 10, .peak_memory_bytes = memory};
}

Study study_with(std::vector<Run> runs) {
  return {.command = "podere train gbt a.csv",
          .weak_rows = {},
          .cpu = "a cpu",
          .usable_cores = 4,
          .runs = std::move(runs),
          .network = Network{.latency_us = 1, .gigabits = 100}};
}

std::string all_reasons(const Suggestion& suggestion) {
  std::string text;
  for (const std::string& reason : suggestion.reasons) text += reason + "\n";
  return text;
}

TEST(Suggest, TheFastest) {
  const Suggestion found = suggest(study_with({timed(1, 1, 20), timed(1, 2, 12), timed(2, 1, 11)}), {});
  EXPECT_EQ(found.shape, (Shape{2, 1}));
  EXPECT_EQ(all_reasons(found),
            "2 executors × 1 core: the fastest that was measured (11.00 s in one run, whose spread is not known)\n"
            "1 × 2 takes 9 % longer, 0.5 times the memory\n"
            "1 × 1 takes 82 % longer, 0.5 times the memory\n");
}

TEST(Suggest, FewerExecutorsWhereItIsAsFastWithinTheSpread) {
  const Suggestion found = suggest(study_with({timed(1, 2, 10.9), timed(1, 2, 11.3), timed(1, 2, 11.4),
                                               timed(2, 1, 10.8), timed(2, 1, 11), timed(2, 1, 11.2), timed(1, 1, 20)}),
                                   {});
  EXPECT_EQ(found.shape, (Shape{1, 2}));
  EXPECT_EQ(
      found.reasons.front(),
      "1 executor × 2 cores: as fast as 2 × 1 within the spread of runs, with less (11.30 s, from 10.90 to 11.40)");
  EXPECT_EQ(found.reasons.at(1), "2 × 1 takes 3 % less time, within the spread, 2 times the memory");
}

TEST(Suggest, TheSlowerIsNoTieForOneSlowRunOfTheFastest) {
  EXPECT_EQ(suggest(study_with({timed(1, 2, 10), timed(1, 2, 10.1), timed(1, 2, 30), timed(1, 1, 20)}), {}).shape,
            (Shape{1, 2}));
}

TEST(Suggest, SaysWhereMoreCoresStopPaying) {
  const Study study = study_with({timed(1, 1, 10), timed(1, 2, 5.5), timed(2, 1, 5.5)});  // 1 s + 9 s / cores
  const Conclusions found = conclude(study, {.modeled_cores = {4}, .network = {}, .suggests = true});
  // 10 / (N + 9) is the efficiency: of 10 cores in executors of one.
  ASSERT_TRUE(found.suggestion.has_value());
  EXPECT_EQ(found.suggestion->shape, (Shape{1, 2}));
  EXPECT_EQ(found.suggestion->reasons.back(), "modeled, not measured: beyond 10 cores efficiency falls below 50 %");
}

TEST(Suggest, SaysOfOneThatStopsPayingAtOnceHowManyCoresDoPay) {
  const Study study = study_with({timed(1, 1, 10), timed(1, 2, 9.9), timed(2, 1, 11)});
  const Conclusions found = conclude(study, {.modeled_cores = {4}, .network = {}, .suggests = true});
  EXPECT_EQ(found.suggestion.value().reasons.back(),
            "modeled, not measured: beyond 1 core efficiency falls below 50 %");
}

TEST(Papers, StandBesideTheirModelsAlone) {
  EXPECT_EQ(paper_figure_of("podere train gbt a.csv").value().efficiency_percent, 81);
  EXPECT_EQ(paper_figure_of("podere train mlp a.csv").value().efficiency_percent, 74);
  EXPECT_EQ(paper_figure_of("podere train nn a.csv").value().minutes, 14);
  EXPECT_FALSE(paper_figure_of("podere train centroid a.csv").has_value());
  EXPECT_FALSE(paper_figure_of("podere evaluate gbt.json a.csv").has_value());
}

}  // namespace
}  // namespace podere::scaling
