#include "podere/cli/submit.h"

#include <gtest/gtest.h>

#include "podere/base/error.h"

namespace podere::cli {
namespace {

using Words = std::vector<std::string>;

TEST(Submit, RunsTheSameCommandInTheAllocation) {
  EXPECT_EQ(submitted_arguments({"/opt/podere", "train", "gbt", "a.csv", "--executors", "4", "--submit", "-o", "m"}),
            (Words{"/opt/podere", "train", "gbt", "a.csv", "--executors", "4", "-o", "m", "--on", "slurm"}));
  EXPECT_EQ(submitted_arguments({"podere", "describe", "--time", "1:00", "--slurm-options=--mem=1G", "--submit=true",
                                 "a.csv", "--on=slurm", "--slurm-options", "--mem 1G", "--time=5"}),
            (Words{"podere", "describe", "a.csv", "--on", "slurm"}));
  EXPECT_EQ(submitted_arguments({"podere", "describe", "--submit", "--", "-a.csv"}),
            (Words{"podere", "describe", "--on", "slurm", "--", "-a.csv"}));
}

TEST(Submit, OptionsOfSlurmNeedSlurm) {
  EXPECT_THROW(check_slurm_options({.slurm_options = "--mem=1G"}), InputError);
  EXPECT_NO_THROW(check_slurm_options({.submit = true, .slurm_options = "--mem=1G"}));
  EXPECT_NO_THROW(check_slurm_options({.on_slurm = true, .slurm_options = "--mem=1G"}));
  EXPECT_NO_THROW(check_slurm_options({}));
}

}  // namespace
}  // namespace podere::cli
