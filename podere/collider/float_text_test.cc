#include "podere/collider/float_text.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdio>
#include <limits>
#include <string>

#include "podere/base/hash.h"

namespace podere::collider {
namespace {

void expect_as_printf(float value) {
  char expected[64];
  std::snprintf(expected, sizeof expected, "%.18e", static_cast<double>(value));
  char written[kFloatTextBytes + 1];
  ASSERT_EQ(std::string(written, write_float(written, value)), expected);
}

TEST(FloatText, IsAsPrintfWritesItForPowersOfTwoAndTheirNeighbors) {
  for (std::uint32_t exponent = 0; exponent < 255; ++exponent) {
    for (const std::uint32_t mantissa : {0u, 1u, 2u, 0x400000u, 0x7ffffeu, 0x7fffffu}) {
      expect_as_printf(std::bit_cast<float>(exponent << 23 | mantissa));
      expect_as_printf(-std::bit_cast<float>(exponent << 23 | mantissa));
    }
  }
}

TEST(FloatText, IsAsPrintfWritesItForPowersOfTenAndTheirNeighbors) {
  for (double power = 1e-45; power < 3e38; power *= 10) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(power));
    for (std::uint32_t near = bits > 5 ? bits - 5 : 0; near < bits + 5; ++near)
      expect_as_printf(std::bit_cast<float>(near));
  }
}

TEST(FloatText, IsAsPrintfWritesItForAMillionRandomBitPatterns) {
  RandomSequence random(1, 0, 0);
  for (int i = 0; i < 1'000'000; ++i) {
    const auto bits = static_cast<std::uint32_t>(random.next());
    if ((bits >> 23 & 0xff) != 0xff) expect_as_printf(std::bit_cast<float>(bits));
  }
}

TEST(FloatText, IsAsPrintfWritesItForTwoMillionNumbersNearOne) {
  RandomSequence random(2, 0, 0);
  for (int i = 0; i < 2'000'000; ++i) {
    const auto exponent = static_cast<std::uint32_t>(127 - 20 + random.next() % 30);
    expect_as_printf(std::bit_cast<float>(exponent << 23 | static_cast<std::uint32_t>(random.next() >> 41)));
  }
}

}  // namespace
}  // namespace podere::collider
