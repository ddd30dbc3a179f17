#include "podere/io/rounded_wholes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

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

TEST(RoundedWholes, AreFoundInArraysOfWholeNumbersAndInDoublesThatAreWhole) {
  const auto step_of = [](auto values, table::Element element) {
    table::Table table({.features = {"id"}}, values.size(), {0, values.size()});
    const table::StridedMatrix matrix{.begin = reinterpret_cast<const std::byte*>(values.data()),
                                      .n_rows = values.size(),
                                      .n_columns = 1,
                                      .row_stride = sizeof(values[0]),
                                      .element = element};
    table::fill_features(matrix, "X", table, 0, 1);
    RoundedWholes rounded(1);
    note_rounded(matrix, table, {0}, 0, rounded);
    const auto found = rounded.join(table.schema().features, comm::Communicator::self());
    return found.empty() ? 0 : found[0].step;
  };
  using table::Element;
  EXPECT_EQ(step_of(std::vector<std::int32_t>{1, 16777217, -33554435}, Element::kInt32), 4);
  EXPECT_EQ(step_of(std::vector<std::uint32_t>{16777216, 4294967295}, Element::kUint32), 512);
  EXPECT_EQ(step_of(std::vector<std::int64_t>{16777216, 16777218}, Element::kInt64), 0);
  EXPECT_EQ(step_of(std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::max()}, Element::kInt64),
            1099511627776);
  EXPECT_EQ(step_of(std::vector<std::uint64_t>{std::numeric_limits<std::uint64_t>::max()}, Element::kUint64),
            2199023255552);
  EXPECT_EQ(step_of(std::vector<double>{1e8, 123456789, kMissing}, Element::kFloat64), 8);
  EXPECT_EQ(step_of(std::vector<double>{1e8, 123456789.5}, Element::kFloat64), 0);
}

}  // namespace
}  // namespace podere::io
