#include "podere/cli/job_progress.h"

#include <gtest/gtest.h>

namespace podere::cli {
namespace {

TEST(StepText, ShowsTreesAndMetrics) {
  EXPECT_EQ(step_text({"train", 12, 1000, {{"loss", 0.61}, {"validation_auc", 0.79}}}),
            "12 of 1,000 trees, loss 0.6100, validation auc 0.7900");
}

TEST(StepText, OfAPhaseWithoutStepsIsItsName) { EXPECT_EQ(step_text({"read", 0, 1, {}}), "read"); }

TEST(StepText, ShowsStagesOfAnEvaluationThatHasSeveral) {
  EXPECT_EQ(step_text({"evaluate", 0, 1, {}}), "evaluate");
  EXPECT_EQ(step_text({"evaluate", 2, 5, {}}), "2 of 5 stages");
}

TEST(StepText, OfANumberOfStepsThatIsNotKnown) {
  EXPECT_EQ(step_text({"svd", 3, 0, {{"residual", 2.5e-7}}, "pass"}), "3 passes, residual 2.5e-07");
}

TEST(JobProgressLines, AreOfPhasesThatHaveSteps) {
  testing::internal::CaptureStderr();
  JobProgress progress(JobProgress::Style::kLines, 0);
  for (const char* phase : {"read", "prepare"}) progress.report({phase, 0, 1, {}});
  progress.report({"train", 3, 12, {}, "step"});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "3 of 12 steps\n");
}

}  // namespace
}  // namespace podere::cli
