#include "podere/columns/npy_file.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "podere/base/error.h"
#include "podere/columns/column_rows.h"
#include "podere/columns/npy_reference.h"
#include "podere/columns/npz_file.h"
#include "podere/columns/python_literal.h"
#include "podere/columns/side_by_side.h"
#include "podere/io/csv_reference.h"

namespace podere::columns {
namespace {

using io::TemporaryFile;

table::Table read_npy(const std::string& bytes, const io::CsvOptions& options = {}) {
  const TemporaryFile file(bytes);
  return read_columns([&] { return open_npy(file.path()); }, options, comm::Communicator::self(), 2);
}

table::Table read_npz(const std::string& bytes, const io::CsvOptions& options = {}) {
  const TemporaryFile file(bytes);
  return read_columns([&] { return open_npz(file.path()); }, options, comm::Communicator::self(), 2);
}

/// The message about a file of these bytes, without its name.
template <typename Read>
std::string refusal_of(const Read& read, const std::string& bytes) {
  try {
    read(bytes, io::CsvOptions{});
  } catch (const InputError& error) {
    const std::string message = error.what();
    return message.substr(message.find(": ") + 2);
  }
  return "not refused";
}

std::string npy_refusal(const std::string& bytes) { return refusal_of(read_npy, bytes); }

std::vector<float> values(const table::Table& table, std::size_t j) {
  return {table.feature(j).begin(), table.feature(j).end()};
}

TEST(Npy, RowsAreTheFirstDimensionInEitherOrder) {
  const auto by_rows = read_npy(npy_file(npy_literal("<i2", "(2, 3)"), bytes_of<std::int16_t>({1, 2, 3, 4, 5, 6})));
  EXPECT_EQ(by_rows.schema().features, (std::vector<std::string>{"f0", "f1", "f2"}));
  EXPECT_EQ(values(by_rows, 2), (std::vector<float>{3, 6}));
  const auto by_columns =
      read_npy(npy_file(npy_literal("<i2", "(2, 3)", true), bytes_of<std::int16_t>({1, 4, 2, 5, 3, 6})));
  EXPECT_EQ(io::table_bits(by_columns), io::table_bits(by_rows));
}

TEST(Npy, MoreDimensionsAreFlattenedTheLastIndexFirstInEitherOrder) {
  // [1, 2, 3] = 0 1 2 / 3 4 5.
  const auto by_rows = read_npy(npy_file(npy_literal("|u1", "(1, 2, 3)"), std::string("\0\1\2\3\4\5", 6)));
  const auto by_columns = read_npy(npy_file(npy_literal("|u1", "(1, 2, 3)", true), std::string("\0\3\1\4\2\5", 6)));
  EXPECT_EQ(by_rows.schema().features[5], "pixel6");
  EXPECT_EQ(io::table_bits(by_columns), io::table_bits(by_rows));
  for (std::size_t j = 0; j < 6; ++j) EXPECT_EQ(values(by_columns, j)[0], static_cast<float>(j));
}

TEST(Npy, HalvesAreExact) {
  const std::vector<std::uint16_t> halves = {0x3c00, 0xc000, 0x0001, 0x03ff, 0x7bff, 0x8000, 0x7c00, 0x7e00};
  const auto read = values(read_npy(npy_file(npy_literal("<f2", "(8,)"), bytes_of(halves))), 0);
  EXPECT_EQ(std::vector<float>(read.begin(), read.end() - 1),
            (std::vector<float>{1, -2, 0x1p-24F, 0x3ffp-24F, 65504, 0, std::numeric_limits<float>::infinity()}));
  EXPECT_TRUE(std::isnan(read.back()));
}

TEST(Npy, DatesAreDaysAndNatIsMissing) {
  const auto days_of = [](std::string_view type, std::int64_t value) {
    return values(read_npy(npy_file(npy_literal(type, "(1,)"), bytes_of<std::int64_t>({value}))), 0)[0];
  };
  EXPECT_EQ(days_of("<M8[D]", -1), -1);
  EXPECT_EQ(days_of("<M8[s]", -43200), -0.5F);
  EXPECT_EQ(days_of("<M8[25s]", 1728), 0.5F);
  EXPECT_EQ(days_of("<M8[W]", 2), 14);
  EXPECT_EQ(days_of("<M8[M]", 14), 424);   // 1971-03-01
  EXPECT_EQ(days_of("<M8[Y]", -1), -365);  // 1969
  EXPECT_EQ(days_of("<M8[as]", 500'000'000'000'000'000), 0.5F / 86400);
  EXPECT_EQ(days_of("<m8[h]", 36), 1.5F);
  EXPECT_TRUE(std::isnan(days_of("<M8[ns]", std::numeric_limits<std::int64_t>::min())));
}

TEST(Npy, DatesBeyondAllYearsAreRefused) {
  for (const char* unit : {"Y", "M", "W", "D", "h", "1000000000W", "4000000000Y"}) {
    for (const std::int64_t value : {std::numeric_limits<std::int64_t>::max(), std::int64_t{-5'000'000'000'000}}) {
      const auto found =
          npy_refusal(npy_file(npy_literal("<M8[" + std::string(unit) + "]", "(1,)"), bytes_of<std::int64_t>({value})));
      EXPECT_NE(found.find("are beyond the years 1 to 9999"), std::string::npos) << unit << value << found;
    }
  }
}

TEST(Npy, TextsEndBeforeTheirZeros) {
  io::CsvOptions options;
  options.categorical = {"f0"};
  const auto bytes = read_npy(npy_file(npy_literal("|S3", "(2,)"), std::string("ab\0\0\0\0", 6)), options);
  EXPECT_EQ(*bytes.schema().categories.at(0), (table::CategoryTexts{"ab"}));
  EXPECT_TRUE(std::isnan(values(bytes, 0)[1]));
  const auto texts = read_npy(
      npy_file(npy_literal(">U2", "(3,)"), std::string("\0\0\0a\0\0\0\0\0\1\xf6\x00\0\0\0b\0\0\x20\xac\0\0\0\0", 24)),
      options);
  EXPECT_EQ(*texts.schema().categories.at(0), (table::CategoryTexts{"a", "\xe2\x82\xac",
                                                                    "\xf0\x9f\x98\x80"
                                                                    "b"}));
  EXPECT_EQ(npy_refusal(npy_file(npy_literal("<U1", "(1,)"), std::string("\0\xd8\0\0", 4))),
            "row 0, column 'f0': 0xd800 is no character of Unicode");
}

TEST(Npy, FieldsMayHaveTitlesShapesFieldsAndPadding) {
  const std::string literal =
      "{'descr': [(('a title', 'a'), '|u1'), ('', '|V3'), ('b', '>f4'), ('c', '|u1', (2, 1)), ('d', [('e', '<i2')]), "
      "('\\xe4\"', '|b1')], 'fortran_order': False, 'shape': (1,)}";
  const std::string row = std::string("\7xyz\x3f\x80\0\0uvww\1", 13);
  io::CsvOptions options;
  options.drop = {"c", "d"};
  const auto table = read_npy(npy_file(literal, row, 4), options);
  EXPECT_EQ(table.schema().features, (std::vector<std::string>{"a", "b", "\xc3\xa4\""}));
  EXPECT_EQ((std::vector<float>{values(table, 0)[0], values(table, 1)[0], values(table, 2)[0]}),
            (std::vector<float>{7, 1, 1}));
  EXPECT_EQ(npy_refusal(npy_file(literal, row, 4)),
            "columns cannot be in a table: 'c' (uint8[2, 1]), 'd' (fields); leave out with --drop c,d, or name what to "
            "keep with --columns");
}

TEST(Npy, ManyRowsAreReadInGroups) {
  constexpr std::size_t kRows = 150'001;
  std::vector<std::int32_t> numbers(2 * kRows);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int32_t>(i * 7919 % 100'003);
  const TemporaryFile file(npy_file(npy_literal("<i4", "(150001, 2)"), bytes_of(numbers)));
  EXPECT_EQ(open_npy(file.path())->group_begins().size(), 4);
  const auto table = read_columns([&] { return open_npy(file.path()); }, {}, comm::Communicator::self(), 3);
  for (std::size_t i = 0; i < kRows; ++i) {
    ASSERT_EQ(table.feature(0)[i], static_cast<float>(numbers[2 * i]));
    ASSERT_EQ(table.feature(1)[i], static_cast<float>(numbers[2 * i + 1]));
  }
}

TEST(Npy, OfNumbersBeyondFloat32TheFirstRowIsNamed) {
  const std::vector<double> numbers = {1, 2, 3, 1e39, -1e300, 4};
  const char* const message = "row 1, column 'f1': 1e+39 is beyond float32, which ends at 3.4e38";
  EXPECT_EQ(npy_refusal(npy_file(npy_literal("<f8", "(3, 2)"), bytes_of(numbers))), message);
  const std::vector<double> by_columns = {1, 3, -1e300, 2, 1e39, 4};
  EXPECT_EQ(npy_refusal(npy_file(npy_literal("<f8", "(3, 2)", true), bytes_of(by_columns))), message);
}

TEST(Npy, BadHeadersAreRefused) {
  const auto refusal = [](const std::string& literal) { return npy_refusal(npy_file(literal, "12345678")); };
  EXPECT_EQ(refusal(npy_literal("<f8", "(1,)")), "not refused");
  EXPECT_NE(refusal(npy_literal("<f8", "(1,)") + "x").find("more follows"), std::string::npos);
  EXPECT_NE(refusal(npy_literal("<f8", "(1 2)")).find("a comma is missing"), std::string::npos);
  EXPECT_NE(refusal(npy_literal("<f8", "1")).find("'shape' is no tuple"), std::string::npos);
  EXPECT_NE(refusal(npy_literal("<f8", "(-1,)")).find("a value is needed"), std::string::npos);
  EXPECT_NE(refusal(npy_literal("<f8", "(99999999999999999999,)")).find("too large"), std::string::npos);
  EXPECT_NE(refusal(npy_literal("<f8", "(18446744073709551615,)")).find("which no file has"), std::string::npos);
  EXPECT_NE(refusal(npy_literal("<f8", "(4294967296, 4294967296, 4294967296)")).find("values that an array can have"),
            std::string::npos);
  EXPECT_NE(refusal(npy_literal("<f8", "(1, 0)")).find("continues after"), std::string::npos);
  EXPECT_NE(refusal(npy_literal("|S0", "(9000000000000000000,)")).find("0 bytes"), std::string::npos);
  EXPECT_NE(refusal(npy_literal("|S4294967295", "(1,)")).find("there is no type"), std::string::npos);
  EXPECT_NE(refusal("{'descr': '<f8', 'shape': (1,)}").find("has no 'fortran_order'"), std::string::npos);
  EXPECT_NE(refusal(std::string(9000, '(')).find("nested too deep"), std::string::npos);
  EXPECT_NE(refusal("{'descr': [('a', '<f8', (1073741825, 1073741825))], 'fortran_order': False, 'shape': (1,)}")
                .find("a row has more than"),
            std::string::npos);
}

/// Of the bits of a byte.
constexpr std::array kChanges = {0x01, 0x02, 0x10, 0x80, 0xff};

/// Files for each part of the format.
std::vector<std::string> good_files() {
  return {npy_file(npy_literal("<f8", "(2, 2)", true), bytes_of<double>({1, 2, 3, 4})),
          npy_file(npy_literal(">M8[ns]", "(2,)"), std::string(16, '\1')),
          npy_file(npy_literal("<U2", "(1, 2)"), std::string("a\0\0\0b\0\0\0c\0\0\0\0\0\0\0", 16)),
          npy_file("{'descr': [(('t', 'a'), '<f2'), ('b', '|S2', (1,)), ('', '|V1')], 'fortran_order': False, 'shape': "
                   "(2,), }",
                   "123456789a", 4)};
}

TEST(Npy, FilesThatAreCutAreRefusedWhereverTheyAre) {
  for (const std::string& good : good_files()) {
    for (std::size_t n = 0; n < good.size(); ++n) EXPECT_NE(npy_refusal(good.substr(0, n)), "not refused") << n;
  }
}

TEST(Npy, NoByteThatIsChangedDoesHarm) {
  for (const std::string& good : good_files()) {
    for (std::size_t i = 0; i < good.size(); ++i) {
      for (const int change : kChanges) {
        std::string bad = good;
        bad[i] = static_cast<char>(bad[i] ^ change);
        npy_refusal(bad);  // or is another good file
      }
    }
  }
}

const std::string kMatrix = npy_file(npy_literal("<i2", "(2, 2)"), bytes_of<std::int16_t>({1, 2, 3, 4}));
const std::string kVector = npy_file(npy_literal("|u1", "(2,)"), "\5\6");

TEST(Npz, MembersThatAreStoredAreSideBySide) {
  const auto table = read_npz(zip_file({{"X.npy", kMatrix}, {"y.npy", kVector}}));
  EXPECT_EQ(table.schema().features, (std::vector<std::string>{"f0", "f1", "y"}));
  EXPECT_EQ(values(table, 1), (std::vector<float>{2, 4}));
  EXPECT_EQ(values(table, 2), (std::vector<float>{5, 6}));
}

TEST(Npz, NoByteThatIsChangedOrMissingDoesHarm) {
  const std::string names = npy_file(npy_literal("|S1", "(2,)"), "ab");
  const std::string good = zip_file({{"X.npy", kMatrix}, {"y.npy", kVector}, {"names.npy", names}});
  EXPECT_EQ(read_npz(good).schema().features, (std::vector<std::string>{"a", "b", "y"}));
  for (std::size_t i = 0; i < good.size(); ++i) {
    EXPECT_NE(refusal_of(read_npz, good.substr(0, i)), "not refused") << i;
    for (const int change : kChanges) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ change);
      refusal_of(read_npz, bad);
    }
  }
}

TEST(SideBySide, FaultsNameTheColumnOfAll) {
  const std::string wrong = npy_file(npy_literal("<f8", "(2,)"), bytes_of<double>({1, 1e300}));
  EXPECT_EQ(refusal_of(read_npz, zip_file({{"X.npy", kMatrix}, {"z.npy", wrong}})),
            "row 1, column 'z': 1e+300 is beyond float32, which ends at 3.4e38");
  const std::string texts = npy_file(npy_literal("|S4", "(2,)"), "1   oops");
  EXPECT_TRUE(refusal_of(read_npz, zip_file({{"X.npy", kMatrix}, {"z.npy", texts}}))
                  .starts_with("row 1, column 'z': 'oops' is neither a number nor"));
}

TEST(SideBySide, LabelsAreOneColumnOfAsManyRows) {
  const TemporaryFile matrix(kMatrix), vector(kVector);
  const auto file = with_labels(open_npy(matrix.path()), open_npy(vector.path()));
  EXPECT_EQ(file->columns().back().name, "label");
  EXPECT_THROW(with_labels(open_npy(matrix.path()), open_npy(matrix.path())), InputError);
}

}  // namespace
}  // namespace podere::columns
