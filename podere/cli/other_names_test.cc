#include "podere/cli/other_names.h"

#include <gtest/gtest.h>

namespace podere::cli {
namespace {

using Words = std::vector<std::string>;

TEST(OtherNames, BecomeOwnOnesThatMeanTheSame) {
  EXPECT_EQ(in_own_names({"train", "gbt", "x", "--eta", "0.1", "--max_depth=3", "--objective", "binary:logistic"}),
            (Words{"train", "gbt", "x", "--learning-rate", "0.1", "--depth=3", "--objective", "logistic"}));
  EXPECT_EQ(in_own_names({"train", "gbt", "x", "--objective=multiclass"}),
            (Words{"train", "gbt", "x", "--objective=softmax"}));
  EXPECT_EQ(in_own_names({"train", "nn", "x", "--optimiser", "adam", "--no-standardise"}),
            (Words{"train", "nn", "x", "--optimizer", "adam", "--no-standardize"}));
  EXPECT_EQ(in_own_names({"train", "mlp", "x", "--lr", "1"}), (Words{"train", "mlp", "x", "--lr", "1"}))
      << "it has none";
  EXPECT_EQ(
      in_own_names({"train", "gbt", "x", "--bagging_fraction=0.5", "--grow_policy", "lossguide", "--loss=log_loss"}),
      (Words{"train", "gbt", "x", "--subsample=0.5", "--growth", "best-first", "--objective=logistic"}));
  EXPECT_EQ(in_own_names({"train", "nn", "x", "--objective", "binary:logistic", "--max_iter", "3"}),
            (Words{"train", "nn", "x", "--loss", "binary-cross-entropy", "--epochs", "3"}));
  EXPECT_EQ(in_own_names({"train", "mlp", "x", "--loss=multi:softmax"}),
            (Words{"train", "mlp", "x", "--loss=cross-entropy"}));
  EXPECT_EQ(in_own_names({"evaluate", "m", "--eta"}), (Words{"evaluate", "m", "--eta"}));
  EXPECT_EQ(in_own_names({"version"}), (Words{"--version"}));
  EXPECT_EQ(in_own_names({"help", "train", "gbt"}), (Words{"train", "gbt", "--help"}));
}

TEST(OtherNames, OfLeavesAlsoGrowTheBestLeafFirst) {
  EXPECT_EQ(in_own_names({"train", "gbt", "x", "--num_leaves", "31", "-o", "m"}),
            (Words{"train", "gbt", "x", "--max-leaves", "31", "-o", "m", "--growth=best-first"}));
  EXPECT_EQ(in_own_names({"train", "gbt", "x", "--max-leaf-nodes=31", "--grow-policy", "depthwise"}),
            (Words{"train", "gbt", "x", "--max-leaves=31", "--growth", "level"}));
}

TEST(OtherNames, ThatMeanSomethingElseGetAHint) {
  EXPECT_EQ(in_own_names({"train", "gbt", "x", "--gamma", "3"}), (Words{"train", "gbt", "x", "--gamma", "3"}));
  EXPECT_NE(hint_of("gbt", "--min_split_loss").find("--min-gain"), std::string::npos);
  EXPECT_NE(hint_of("gbt", "--reg_alpha").find("L1"), std::string::npos);
  EXPECT_NE(hint_of("mlp", "--lr").find("L-BFGS"), std::string::npos);
  EXPECT_EQ(hint_of("gbt", "--eta"), "");
  EXPECT_EQ(hint_of("nn", "--num-leaves"), "");
}

}  // namespace
}  // namespace podere::cli
