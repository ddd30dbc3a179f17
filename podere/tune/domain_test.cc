#include "podere/tune/domain.h"

#include <gtest/gtest.h>

#include <cmath>

namespace podere::tune {
namespace {

using Kind = Parameter::Kind;

TEST(Domain, StepsAreWrittenAsPeopleWriteThem) {
  const Parameter tenths{.name = "x", .kind = Kind::kReal, .low = -0.3, .high = 1, .step = 0.1};
  ASSERT_EQ(n_values(tenths), 14U);
  const double expected[] = {-0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1};
  for (std::size_t i = 0; i < 14; ++i) {
    EXPECT_EQ(value_number(tenths, i), expected[i]);
    EXPECT_EQ(place_of(tenths, expected[i]), static_cast<double>(i));
  }
  EXPECT_EQ(value_number(tenths, 3).dump(), "0.0") << "not -0.0";
}

TEST(Domain, StepsOfAnySizeStayInTheRange) {
  for (const double step : {1e-300, 3e-7, 0.125, 7.0, 1e300}) {
    const Parameter parameter{.name = "x", .kind = Kind::kReal, .low = step / 3, .high = step * 2.5, .step = step};
    ASSERT_EQ(n_values(parameter), 3U);
    EXPECT_EQ(value_number(parameter, 0), parameter.low);
    EXPECT_NEAR(value_number(parameter, 1).get<double>() / step, 4.0 / 3, 1e-11);
    EXPECT_LE(value_number(parameter, 2).get<double>(), parameter.high);
  }
}

TEST(Domain, ThereAndBackIsTheSame) {
  const Parameter parameters[] = {
      {.name = "real", .kind = Kind::kReal, .low = -2, .high = 3},
      {.name = "integer", .kind = Kind::kInteger, .low = -7, .high = 20, .step = 3},
      {.name = "log integer", .kind = Kind::kInteger, .low = 1, .high = 1e6, .is_log = true},
      {.name = "choice", .kind = Kind::kChoice, .choices = {"a", 1, 2.5, true}},
  };
  for (const Parameter& parameter : parameters) {
    const Interval places = places_of(parameter);
    for (int i = 0; i <= 100; ++i) {
      const Json value = value_at_place(parameter, places.low + i * (places.high - places.low) / 100);
      EXPECT_EQ(value_at_place(parameter, place_of(parameter, value)), value) << parameter.name;
    }
  }
}

TEST(Domain, ValuesOfOthersAreMovedIntoTheRangeOrHaveNoPlace) {
  const Parameter integer{.name = "x", .kind = Kind::kInteger, .low = 3, .high = 10};
  EXPECT_EQ(place_of(integer, 99), 7);
  EXPECT_EQ(place_of(integer, -99), 0);
  EXPECT_TRUE(std::isnan(place_of(integer, "5")));
  EXPECT_TRUE(std::isnan(place_of({.name = "c", .kind = Kind::kChoice, .choices = {"a", "b"}}, "c")));
  EXPECT_EQ(place_of({.name = "l", .kind = Kind::kReal, .low = 1, .high = 2, .is_log = true}, -1), 0);
}

}  // namespace
}  // namespace podere::tune
