#include "podere/scaling/command.h"

#include <gtest/gtest.h>

#include "podere/base/error.h"

namespace podere::scaling {
namespace {

TEST(ScalingCommand, RunsElsewhereWhereAnOptionSaysSo) {
  EXPECT_FALSE(runs_elsewhere({"train", "gbt", "a.csv"}));
  EXPECT_FALSE(runs_elsewhere({"train", "gbt", "a.csv", "--on", "here"}));
  EXPECT_TRUE(runs_elsewhere({"train", "gbt", "a.csv", "--on", "slurm"}));
  EXPECT_TRUE(runs_elsewhere({"train", "gbt", "a.csv", "--on=kubernetes"}));
  EXPECT_TRUE(runs_elsewhere({"train", "gbt", "a.csv", "--hosts=h.txt"}));
}

TEST(ScalingCommand, HasThePlaceOfItsExecutorsAmongItsWords) {
  EXPECT_EQ(place_words({"train", "gbt", "a.csv", "--hosts", "h.txt", "--trees", "3", "--ssh=ssh -p 1"}),
            (Words{"--hosts", "h.txt", "--ssh=ssh -p 1"}));
  EXPECT_TRUE(place_words({"train", "gbt", "a.csv"}).empty());
}

TEST(ScalingCommand, NeedsAnExecutorBesideItsServers) {
  EXPECT_EQ(needed_executors({"train", "nn", "a.csv"}), 1);
  EXPECT_EQ(needed_executors({"train", "nn", "a.csv", "--servers", "2"}), 3);
  EXPECT_EQ(needed_executors({"train", "nn", "a.csv", "--servers=1"}), 2);
  EXPECT_EQ(needed_executors({"train", "nn", "a.csv", "--async"}), 2);
  EXPECT_EQ(needed_executors({"train", "nn", "a.csv", "--servers=x"}), 1);  // which the command refuses
}

TEST(ScalingCommand, IsRefusedWithTheOptionsOfTheStudy) {
  EXPECT_THROW(check_command({"session", "start"}, false), InputError);
  EXPECT_THROW(check_command({"train", "gbt", "a.csv", "--cores=2"}, false), InputError);
  EXPECT_THROW(check_command({"train", "nn", "a.csv", "--workers", "2"}, false), InputError);
  EXPECT_THROW(check_command({"train", "gbt", "a.csv", "--rows", ":7"}, true), InputError);
  EXPECT_NO_THROW(check_command({"train", "gbt", "a.csv", "--rows", ":7"}, false));
}

}  // namespace
}  // namespace podere::scaling
