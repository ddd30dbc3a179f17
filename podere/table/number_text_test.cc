#include "podere/table/number_text.h"

#include <gtest/gtest.h>

namespace podere::table {
namespace {

TEST(NumberText, IsTheSameForEveryNotationOfANumber) {
  for (const char* text : {"3", "3.0", "3e0", "+3", "03", "0.3e1"}) EXPECT_EQ(number_text(text), "3") << text;
  for (const char* text : {"0", "-0", "0.0", "-0.0"}) EXPECT_EQ(number_text(text), "0") << text;
  for (const char* text : {"-2.5", "-2.50", "-25e-1"}) EXPECT_EQ(number_text(text), "-2.5") << text;
  EXPECT_EQ(number_text("9007199254740993"), "9007199254740993");
  EXPECT_EQ(number_text("-9223372036854775808"), "-9223372036854775808");
}

TEST(NumberText, WhatIsNoFiniteNumberHasNone) {
  for (const char* text : {"", "True", "3 m", "nan", "inf", "3,0", "+-3"})
    EXPECT_EQ(number_text(text), std::nullopt) << text;
}

}  // namespace
}  // namespace podere::table
