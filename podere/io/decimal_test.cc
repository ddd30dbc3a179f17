#include "podere/io/decimal.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>

#include "podere/base/hash.h"

namespace podere::io {
namespace {

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

/// Both ways to the number; the quick one may leave it to the other. True if it did not.
bool expect_bits(const std::string& text, std::uint32_t expected) {
  float value = -1;
  EXPECT_TRUE(parse_float(text, value)) << text;
  EXPECT_EQ(bits_of(value), expected) << text;
  const std::string padded = text + ',' + std::string(16, '\0');
  const char* const end = parse_float_quickly(padded.data(), value);
  if (end == nullptr) return false;
  EXPECT_EQ(end, padded.data() + text.size()) << text;
  EXPECT_EQ(bits_of(value), expected) << text;
  return true;
}

TEST(Decimal, AllNumbersOfTheParseNumberFileAreExact) {
  std::ifstream file(PODERE_TEST_DATA "/csv/parse-number/lemire-fast-float.txt");
  std::string half, single, whole, text;
  std::size_t n = 0;
  for (; file >> half >> single >> whole >> text; ++n) {
    expect_bits(text, static_cast<std::uint32_t>(std::stoul(single, nullptr, 16)));
  }
  EXPECT_EQ(n, 3299);
}

TEST(Decimal, RandomFloatsComeBackFromEverySpelling) {
  RandomSequence random(1, 2, 3);
  std::size_t quick = 0;
  constexpr std::size_t kNumbers = 20000;
  for (std::size_t i = 0; i < kNumbers; ++i) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(random.next()));
    if (!std::isfinite(value)) continue;
    expect_bits(fmt::format("{:.18e}", static_cast<double>(value)), bits_of(value));
    expect_bits(fmt::format("{}", value), bits_of(value));
    expect_bits(fmt::format("{:.9g}", value), bits_of(value));
    const float usual = static_cast<float>(20.0 * random.uniform() - 10.0);
    quick += expect_bits(fmt::format("{:.18e}", static_cast<double>(usual)), bits_of(usual));
  }
  EXPECT_GT(quick, kNumbers * 98 / 100);
}

TEST(Decimal, RandomDecimalsAreRoundedAsTheCLibraryRounds) {
  RandomSequence random(4, 5, 6);
  for (std::size_t i = 0; i < 50000; ++i) {
    std::string text = random.next() % 2 ? "-" : "";
    const std::size_t digits = 1 + random.next() % 21, point = random.next() % (digits + 1);
    for (std::size_t k = 0; k < digits; ++k) {
      if (k == point) text += '.';
      text += static_cast<char>('0' + random.next() % 10);
    }
    if (random.next() % 2) text += fmt::format("e{}", static_cast<int>(random.next() % 50) - 30);
    expect_bits(text, bits_of(std::strtof(text.c_str(), nullptr)));
  }
}

// Halfway between two floats, and as near beside it as 17 and 19 digits can say.
TEST(Decimal, TextAtAndBesideTiesIsRoundedToTheNearestEven) {
  RandomSequence random(7, 8, 9);
  for (std::size_t i = 0; i < 4000; ++i) {
    const float low = static_cast<float>(std::exp2(40.0 * random.uniform() - 20.0));
    const double tie = 0.5 * (static_cast<double>(low) + static_cast<double>(std::nextafter(low, 1e30F)));
    for (const double value : {tie, std::nextafter(tie, 0.0), std::nextafter(tie, 1e30)}) {
      for (const int digits : {16, 17, 18, 45}) {
        const std::string text = fmt::format("{:.{}e}", value, digits);
        expect_bits(text, bits_of(std::strtof(text.c_str(), nullptr)));
      }
    }
  }
}

TEST(Decimal, WhatIsNotADecimalNumberIsNone) {
  for (const char* const text : {"",   "-",  "+",   ".",   "e5",  "1e",    "1e+", "0x10", "0x1p3", "1_000",   "1,5",
                                 " 1", "1 ", "--1", "+-1", "-+1", "1e5.0", "1f",  "1d5",  "abc",   "infinit", "1..2"}) {
    float value;
    EXPECT_FALSE(parse_float(text, value)) << text;
  }
}

TEST(Decimal, InfinityIsANumber) {
  for (const char* const text : {"inf", "+inf", "INF", "Infinity"}) {
    float value;
    EXPECT_TRUE(parse_float(text, value)) << text;
    EXPECT_EQ(value, std::numeric_limits<float>::infinity()) << text;
  }
}

}  // namespace
}  // namespace podere::io
