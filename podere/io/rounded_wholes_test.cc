#include "podere/io/rounded_wholes.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "podere/io/decimal.h"

namespace podere::io {
namespace {

TEST(RoundedWholes, AreWholeNumbersThatFloat32DoesNotHold) {
  for (const auto& [text, is_it] : {std::pair("16777216", false),
                                    {"16777217", true},
                                    {"-16777217.00", true},
                                    {"+16777218", false},
                                    {"0016777217", true},
                                    {"16777217.5", false},
                                    {"1.6777217e7", false},
                                    {"9223372036854775807", true},
                                    {"-9223372036854775808", false},
                                    {"18446744073709551615", true},
                                    {"18446744073709551616", false},
                                    {"00018446744073709551616.0", false},
                                    {"1000000000000000000000000", true},
                                    {"inf", false},
                                    {".0", false},
                                    {"-", false},
                                    {"", false}}) {
    float rounded = 0;
    parse_float(text, rounded);
    EXPECT_EQ(is_rounded(text, rounded), is_it) << text;
  }
}

}  // namespace
}  // namespace podere::io
