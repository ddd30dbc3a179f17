#include "podere/base/number.h"

#include <gtest/gtest.h>

namespace podere {
namespace {

TEST(ParseCount, TakesDigitsAndWholeNumbersWithAnExponent) {
  EXPECT_EQ(parse_count("0"), 0u);
  EXPECT_EQ(parse_count("18446744073709551615"), 18446744073709551615u);
  EXPECT_EQ(parse_count("1e6"), 1'000'000u);
  EXPECT_EQ(parse_count("2.5e3"), 2500u);
}

TEST(ParseCount, RefusesAllElse) {
  for (const char* text : {"", "-1", "1.5", "1e-3", "abc", "12x", "nan", "inf", "1e17", " 1", "18446744073709551616"}) {
    EXPECT_EQ(parse_count(text), std::nullopt) << text;
  }
}

TEST(ParseReal, TakesFiniteNumbersOnly) {
  EXPECT_EQ(parse_real("-0.25"), -0.25);
  EXPECT_EQ(parse_real("1e-3"), 1e-3);
  for (const char* text : {"", "nan", "inf", "0.1 ", "1,5", "1e999"}) EXPECT_EQ(parse_real(text), std::nullopt) << text;
}

}  // namespace
}  // namespace podere
