#include "podere/base/printable.h"

#include <gtest/gtest.h>

namespace podere {
namespace {

TEST(Printable, WhatATerminalWouldNotPrintIsEscaped) {
  EXPECT_EQ(printable("m_bb"), "'m_bb'");
  EXPECT_EQ(printable("größe €"), "'größe €'");
  EXPECT_EQ(printable("a\n\x1b[2J"), "'a\\x0a\\x1b[2J'");
  EXPECT_EQ(printable("\xff\xc2\x80"), "'\\xff\\xc2\\x80'") << "no UTF-8, and a control character";
}

TEST(Printable, WhatTurnsTheTextBehindItAroundIsEscaped) {
  EXPECT_EQ(printable("a\u202egnp.exe"), "'a\\xe2\\x80\\xaegnp.exe'");
  EXPECT_EQ(printable("\u2066a\u2069\u2028"), "'\\xe2\\x81\\xa6a\\xe2\\x81\\xa9\\xe2\\x80\\xa8'");
  EXPECT_EQ(printable("\u2027\u202f\u2065\u206a שלום"), "'\u2027\u202f\u2065\u206a שלום'");
}

TEST(Printable, LongTextIsClipped) {
  EXPECT_EQ(printable(std::string(1000, 'x')), "'" + std::string(40, 'x') + "...'");
  EXPECT_EQ(printable_line(std::string(1000, 'x'), 9), std::string(9, 'x') + "...");
  EXPECT_EQ(printable_line("two\nlines", 20), "two\\x0alines");
}

TEST(Printable, OnlyWellFormedUtf8IsUtf8) {
  EXPECT_TRUE(is_utf8("größe €"));
  EXPECT_FALSE(is_utf8("\xc3"));
  EXPECT_FALSE(is_utf8("\xed\xa0\x80")) << "half of a pair";
  EXPECT_FALSE(is_utf8("\xc0\x80")) << "longer than needed";
}

}  // namespace
}  // namespace podere
