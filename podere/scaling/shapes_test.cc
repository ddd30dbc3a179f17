#include "podere/scaling/shapes.h"

#include <gtest/gtest.h>

#include "podere/base/error.h"

namespace podere::scaling {
namespace {

const Words kTrain = {"train", "gbt", "a.csv"};

TEST(ScalingShapes, AreThePowersOfTwoThatFit) {
  const Shapes shapes = shapes_to_measure({}, {}, kTrain, 5);
  EXPECT_EQ(shapes.measured, (std::vector<Shape>{{1, 1}, {1, 2}, {1, 4}, {2, 1}, {2, 2}, {4, 1}}));
  EXPECT_TRUE(shapes.left_out.empty());
}

TEST(ScalingShapes, OfAListAreThoseThatFit) {
  EXPECT_EQ(shapes_to_measure({3}, {}, kTrain, 6).measured, (std::vector<Shape>{{3, 1}, {3, 2}}));
  EXPECT_EQ(shapes_to_measure({1, 1}, {2}, kTrain, 2).measured, (std::vector<Shape>{{1, 2}}));  // once
}

TEST(ScalingShapes, ThatShareCoresAreRefusedIfTheyAreAskedFor) {
  EXPECT_THROW(shapes_to_measure({2}, {2}, kTrain, 2), InputError);
  EXPECT_THROW(shapes_to_measure({2}, {}, kTrain, 1), InputError);
  EXPECT_EQ(shapes_to_measure({2}, {2}, {"train", "gbt", "a.csv", "--on", "slurm"}, 2).measured.size(), 1);
}

TEST(ScalingShapes, WithoutRoomForServersAreLeftOut) {
  const Words servers = {"train", "nn", "a.csv", "--servers", "1"};
  const Shapes shapes = shapes_to_measure({1, 2}, {1}, servers, 2);
  EXPECT_EQ(shapes.measured, (std::vector<Shape>{{2, 1}}));
  EXPECT_EQ(shapes.left_out, (std::vector<Shape>{{1, 1}}));
  EXPECT_THROW(shapes_to_measure({1}, {1}, servers, 2), InputError);
}

}  // namespace
}  // namespace podere::scaling
