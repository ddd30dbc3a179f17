#include "podere/controller/quantity.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "podere/base/error.h"

namespace podere::controller {
namespace {

TEST(Quantity, IsReadAsKubernetesReadsIt) {
  EXPECT_EQ(parse_quantity("0"), 0);
  EXPECT_EQ(parse_quantity("500m", 1000), 500);
  EXPECT_EQ(parse_quantity("2", 1000), 2000);
  EXPECT_EQ(parse_quantity("1.5", 1000), 1500);
  EXPECT_EQ(parse_quantity(".5", 1000), 500);
  EXPECT_EQ(parse_quantity("5.", 1), 5);
  EXPECT_EQ(parse_quantity("1Ki"), 1024);
  EXPECT_EQ(parse_quantity("1.5Gi"), 3LL << 29);
  EXPECT_EQ(parse_quantity("1k"), 1000);
  EXPECT_EQ(parse_quantity("128974848000m"), 128974848);
  EXPECT_EQ(parse_quantity("129e6"), 129'000'000);
  EXPECT_EQ(parse_quantity("1E3"), 1000);
  EXPECT_EQ(parse_quantity("12e-1"), 2) << "rounded up";
  EXPECT_EQ(parse_quantity("1n", 1000), 1) << "rounded up";
  EXPECT_EQ(parse_quantity("+7M"), 7'000'000);
  EXPECT_EQ(parse_quantity("-0"), 0);
}

TEST(Quantity, WhatIsTooMuchCountsAsTheMost) {
  for (const char* const text : {"1E", "8Ei", "9e99", "99999999999999999999999999", "1e1000000", "1E+999999999"}) {
    const auto amount = parse_quantity(text, 1000);
    if (std::string_view(text) == "1E+999999999" || std::string_view(text) == "1e1000000") {
      EXPECT_TRUE(!amount || *amount == kMostOfAResource) << text;
    } else {
      EXPECT_EQ(amount, kMostOfAResource) << text;
    }
  }
  EXPECT_EQ(parse_quantity("0e99"), 0);
  EXPECT_EQ(parse_quantity("1e-99"), 1);
}

TEST(Quantity, WhatIsNoneIsRefused) {
  for (const char* const text : {"", " ", "m", "Gi", "1 Gi", "1gi", "1ki", "1.2.3", "1e", "1e3m", "--1", "-1", "-0.5",
                                 "1i", "0x10", "NaN", "."}) {
    EXPECT_EQ(parse_quantity(text), std::nullopt) << text;
  }
}

TEST(Quantity, AmountsAreNamedAndCpuIsInThousandths) {
  const kube::Json given = {{"cpu", "250m"}, {"memory", "1Gi"}, {"nvidia.com/gpu", 2}};
  EXPECT_EQ(amounts_of(given), (Amounts{{"cpu", 250}, {"memory", 1LL << 30}, {"nvidia.com/gpu", 2}}));
  EXPECT_THROW(amounts_of({{"cpu", "many"}}), Error);
  EXPECT_TRUE(amounts_of(nullptr).empty());
}

RC_GTEST_PROP(Quantity, AnyTextIsAnAmountOrNone, ()) {
  const auto text = *rc::gen::container<std::string>(
      rc::gen::element('0', '1', '9', '.', 'e', 'E', '-', '+', 'm', 'K', 'i', 'G', 'u', ' '));
  const auto amount = parse_quantity(text, 1000);
  if (amount) RC_ASSERT(*amount >= 0 && *amount <= kMostOfAResource);
}

RC_GTEST_PROP(Quantity, WholeNumbersOfAnySuffixAreExact, ()) {
  const auto number = *rc::gen::inRange<std::int64_t>(0, 4000);
  RC_ASSERT(parse_quantity(fmt::format("{}Ki", number)) == number << 10);
  RC_ASSERT(parse_quantity(fmt::format("{}Gi", number)) == number << 30);
  RC_ASSERT(parse_quantity(fmt::format("{}G", number)) == number * 1'000'000'000);
  RC_ASSERT(parse_quantity(fmt::format("{}m", number), 1000) == number);
  RC_ASSERT(parse_quantity(fmt::format("{}m", number)) == (number + 999) / 1000);
  RC_ASSERT(parse_quantity(fmt::format("{}e3", number)) == number * 1000);
}

}  // namespace
}  // namespace podere::controller
