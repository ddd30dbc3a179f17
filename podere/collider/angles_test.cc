#include "podere/collider/angles.h"

#include <gtest/gtest.h>

#include <cmath>

namespace podere::collider {
namespace {

TEST(Angles, SineAndCosineOfTurnsAreThoseOfTheLibrary) {
  for (int i = -1000; i <= 1000; ++i) {
    const double turns = i / 1000.0;
    const auto [sine, cosine] = sine_cosine_of_turns(turns);
    EXPECT_NEAR(sine, std::sin(2 * std::numbers::pi * turns), 1e-11) << turns;
    EXPECT_NEAR(cosine, std::cos(2 * std::numbers::pi * turns), 1e-11) << turns;
  }
}

TEST(Angles, AngleOfIsThatOfTheLibraryInEveryDirection) {
  for (int i = -1000; i <= 1000; ++i) {
    const double angle = std::numbers::pi * i / 1000.0;
    for (const double length : {1e-3, 1.0, 1e4}) {
      const double x = length * std::cos(angle);
      const double y = length * std::sin(angle);
      EXPECT_NEAR(angle_of(x, y), std::atan2(y, x), 1e-10) << angle;
    }
  }
  EXPECT_EQ(angle_of(0, 0), 0);
  EXPECT_DOUBLE_EQ(angle_of(-1, 0), std::numbers::pi);
}

}  // namespace
}  // namespace podere::collider
