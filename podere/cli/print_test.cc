#include "podere/cli/print.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "podere/base/json.h"

namespace podere::cli {
namespace {

TEST(Print, GroupsDigits) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1000), "1,000");
  EXPECT_EQ(with_commas(1234567), "1,234,567");
}

TEST(Print, SaysDurationsInUnitsThatFit) {
  EXPECT_EQ(duration(0.118), "0.12 s");
  EXPECT_EQ(duration(200), "3 min 20 s");
  EXPECT_EQ(duration(7500), "2 h 5 min");
  EXPECT_EQ(duration(std::nan("")), "-");
}

TEST(Print, ShowsWhatIsNoNumberAsADash) {
  EXPECT_EQ(number(0.25), "0.25");
  EXPECT_EQ(number(std::nan("")), "-");
  EXPECT_EQ(number(Json()), "-");
}

TEST(Bars, ScaleToTheLargestAndShowEveryBinThatHoldsAnything) {
  EXPECT_EQ(bars(std::vector<std::uint64_t>{0, 1, 500, 1000}), " ▁▄█");
  EXPECT_EQ(bars(std::vector<std::uint64_t>{0, 0}), "  ");
  EXPECT_EQ(bars(std::vector<std::uint64_t>{}), "");
}

TEST(TextTable, AlignsByCharactersNotBytes) {
  TextTable table({"x", "n"});
  table.add({"é", "1"});
  table.add({"ab", "123"});
  EXPECT_EQ(table.text(), "x     n\né     1\nab  123\n");
}

TEST(ValueText, HasWholeNumbersOfEitherSign) {
  EXPECT_EQ(value_text(1234), "1,234");
  EXPECT_EQ(value_text(-1234), "-1,234");
  EXPECT_EQ(value_text(std::numeric_limits<std::int64_t>::min()), "-9,223,372,036,854,775,808");
  EXPECT_EQ(value_text(std::numeric_limits<std::uint64_t>::max()), "18,446,744,073,709,551,615");
  EXPECT_EQ(value_text(nullptr), "-");
}

TEST(TextTable, LeavesNoBlanksAtTheEndOfALine) {
  EXPECT_EQ(facts_text({{"a", "x"}, {"long name", ""}}), "a          x\nlong name\n");
}

}  // namespace
}  // namespace podere::cli
