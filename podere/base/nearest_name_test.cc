#include "podere/base/nearest_name.h"

#include <gtest/gtest.h>

namespace podere {
namespace {

const std::vector<std::string> kNames = {"train", "predict", "m_bb", "m_wbb", "m"};

TEST(NearestName, OneOrTwoSlipsAreSeenThrough) {
  EXPECT_EQ(nearest_name("trian", kNames), "train");
  EXPECT_EQ(nearest_name("predct", kNames), "predict");
  EXPECT_EQ(nearest_name("m_bbb", kNames), "m_bb");
  EXPECT_EQ(nearest_name("m_wbb", kNames), "m_wbb");
}

TEST(NearestName, WhatIsFarFromAllNamesIsNone) {
  EXPECT_EQ(nearest_name("terrain", kNames), "train");
  EXPECT_EQ(nearest_name("terrains", kNames), std::nullopt);
  EXPECT_EQ(nearest_name("x", kNames), std::nullopt) << "all its letters would be slips";
  EXPECT_EQ(nearest_name("", kNames), std::nullopt);
  EXPECT_EQ(nearest_name("train", {}), std::nullopt);
}

}  // namespace
}  // namespace podere
