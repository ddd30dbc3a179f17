#include "podere/table/strided.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "podere/base/error.h"

namespace podere::table {
namespace {

using Floats = std::vector<float>;

Floats column(const Table& table, std::size_t j) { return {table.feature(j).begin(), table.feature(j).end()}; }

Table empty_table(std::size_t n_rows, std::size_t n_features) {
  Schema schema;
  for (std::size_t j = 0; j < n_features; ++j) schema.features.push_back("f" + std::to_string(j));
  return {schema, n_rows, {0, n_rows}};
}

template <typename T>
StridedMatrix row_major(const std::vector<T>& values, std::size_t n_columns, Element element) {
  return {.begin = reinterpret_cast<const std::byte*>(values.data()),
          .n_rows = values.size() / n_columns,
          .n_columns = n_columns,
          .row_stride = static_cast<std::ptrdiff_t>(n_columns * sizeof(T)),
          .column_stride = sizeof(T),
          .element = element};
}

/// Whether `call` throws an InputError that says `what`.
template <typename Call>
testing::AssertionResult refuses(const std::string& what, Call&& call) {
  try {
    call();
  } catch (const InputError& error) {
    if (std::string(error.what()).find(what) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << error.what();
  }
  return testing::AssertionFailure() << "nothing was refused";
}

template <typename T>
void expect_copied(Element element, std::size_t n_rows, std::size_t n_columns) {
  std::vector<T> values(n_rows * n_columns);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<T>(k % 97);
  Table table = empty_table(n_rows, n_columns);
  fill_features(row_major(values, n_columns, element), "X", table, 0, 3);
  for (std::size_t i = 0; i < n_rows; ++i) {
    for (std::size_t j = 0; j < n_columns; ++j) {
      ASSERT_EQ(table.feature(j)[i], static_cast<float>(values[i * n_columns + j])) << i << ", " << j;
    }
  }
}

TEST(FillFeaturesTest, CopiesEveryElementTypeAtOddSizes) {
  for (const auto& [n_rows, n_columns] : {std::pair{1, 1}, {5, 3}, {33, 7}, {5000, 1}, {1031, 29}, {3, 2000}}) {
    expect_copied<std::int8_t>(Element::kInt8, n_rows, n_columns);
    expect_copied<std::int16_t>(Element::kInt16, n_rows, n_columns);
    expect_copied<std::int32_t>(Element::kInt32, n_rows, n_columns);
    expect_copied<std::int64_t>(Element::kInt64, n_rows, n_columns);
    expect_copied<std::uint8_t>(Element::kUint8, n_rows, n_columns);
    expect_copied<std::uint16_t>(Element::kUint16, n_rows, n_columns);
    expect_copied<std::uint32_t>(Element::kUint32, n_rows, n_columns);
    expect_copied<std::uint64_t>(Element::kUint64, n_rows, n_columns);
    expect_copied<float>(Element::kFloat32, n_rows, n_columns);
    expect_copied<double>(Element::kFloat64, n_rows, n_columns);
  }
}

TEST(FillFeaturesTest, FollowsStridesOfAnySign) {
  const std::vector<double> values{1, 2, 3, 4, 5, 6};  // 3 x 2
  StridedMatrix from = row_major(values, 2, Element::kFloat64);
  from.begin += 4 * sizeof(double);  // last row first
  from.row_stride = -from.row_stride;
  Table table = empty_table(3, 3);
  fill_features(from, "X", table, 1, 1);
  EXPECT_EQ(column(table, 1), (Floats{5, 3, 1}));
  EXPECT_EQ(column(table, 2), (Floats{6, 4, 2}));
}

TEST(FillFeaturesTest, KeepsMissingValues) {
  const std::vector<double> values{std::numeric_limits<double>::quiet_NaN(), 1};
  Table table = empty_table(2, 1);
  fill_features(row_major(values, 1, Element::kFloat64), "X", table, 0, 1);
  EXPECT_TRUE(std::isnan(table.feature(0)[0]));
  EXPECT_EQ(table.feature(0)[1], 1.0F);
}

TEST(FillFeaturesTest, RefusesWhatIsInfiniteAsFloat32AndSaysWhere) {
  std::vector<double> values(3 * 5000, 0.5);
  values[3 * 4321 + 2] = -1e39;
  Table table = empty_table(5000, 3);
  EXPECT_TRUE(refuses("X has infinity, or a value too large for float32, in row 4321, column 2",
                      [&] { fill_features(row_major(values, 3, Element::kFloat64), "X", table, 0, 2); }));
}

TEST(FillFeaturesTest, FillsSomeRowsAndNamesThemByTheirGlobalNumbers) {
  const std::vector<double> values{1, 2, 3, 1e39};
  Schema schema;
  schema.features = {"a", "b"};
  Table table(schema, 100, {50, 53});
  const StridedMatrix rows = row_major(values, 2, Element::kFloat64);
  EXPECT_TRUE(refuses("in row 52, column 1", [&] { fill_features(rows, "X", table, LocalRow{1}, 0, 1); }));
  EXPECT_EQ(table.feature(0)[1], 1.0F);
  EXPECT_EQ(table.feature(0)[2], 3.0F);
  EXPECT_TRUE(refuses("do not fit", [&] { fill_features(rows, "X", table, LocalRow{2}, 0, 1); }));
}

TEST(ElementTest, HasTheNamesThatNumpyGives) {
  EXPECT_EQ(parse_element("bool"), Element::kBool);
  EXPECT_EQ(parse_element("uint16"), Element::kUint16);
  EXPECT_EQ(parse_element("float64"), Element::kFloat64);
  EXPECT_EQ(size_of(Element::kInt64), 8);
  EXPECT_EQ(size_of(Element::kFloat32), 4);
  EXPECT_TRUE(refuses("an array of object", [] { parse_element("object"); }));
}

TEST(FillFeaturesTest, RefusesAMatrixThatDoesNotFit) {
  const std::vector<float> values(6);
  Table table = empty_table(3, 2);
  EXPECT_TRUE(refuses("do not fit", [&] { fill_features(row_major(values, 2, Element::kFloat32), "X", table, 1, 1); }));
  EXPECT_TRUE(refuses("do not fit", [&] { fill_features(row_major(values, 3, Element::kFloat32), "X", table, 0, 1); }));
}

TEST(FillColumnTest, RefusesNanAndInfinity) {
  const std::vector<double> values{1, std::numeric_limits<double>::quiet_NaN(), 3};
  Floats labels(3);
  EXPECT_TRUE(refuses("y has NaN, infinity or a value too large for float32 in row 1",
                      [&] { fill_column(row_major(values, 1, Element::kFloat64), "y", labels, 1); }));
}

TEST(SparseTest, PlacesWithoutAValueAreZeroAndValuesAtOnePlaceAreAdded) {
  const std::vector<std::int32_t> starts{0, 2, 2, 5};
  const std::vector<std::int32_t> rows{0, 3, 2, 1, 2};
  const std::vector<double> values{1, 2, 3, 4, 5};
  Table table = empty_table(4, 3);
  fill_features(SparseColumns<std::int32_t, double>{4, starts, rows, values}, "X", table, 2);
  EXPECT_EQ(column(table, 0), (Floats{1, 0, 0, 2}));
  EXPECT_EQ(column(table, 1), (Floats{0, 0, 0, 0}));
  EXPECT_EQ(column(table, 2), (Floats{0, 4, 8, 0}));
}

TEST(SparseTest, RefusesIndicesOutOfBounds) {
  const std::vector<std::int64_t> starts{0, 2};
  const std::vector<float> values{1, 2};
  Table table = empty_table(4, 1);
  for (const std::vector<std::int64_t>& rows : {std::vector<std::int64_t>{0, 4}, {-1, 0}}) {
    EXPECT_TRUE(refuses("leads out of its rows", [&] {
      fill_features(SparseColumns<std::int64_t, float>{4, starts, rows, values}, "X", table, 1);
    }));
  }
  const std::vector<std::int64_t> rows{0, 1};
  const std::vector<std::int64_t> too_far{1, 3};
  EXPECT_TRUE(refuses("leads out of its values", [&] {
    fill_features(SparseColumns<std::int64_t, float>{4, too_far, rows, values}, "X", table, 1);
  }));
}

}  // namespace
}  // namespace podere::table
