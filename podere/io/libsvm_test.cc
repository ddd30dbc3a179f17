#include "podere/io/libsvm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "podere/base/error.h"
#include "podere/io/csv_reference.h"

namespace podere::io {
namespace {

table::Table read_libsvm_text(const std::string& text, const LibsvmOptions& options = {}) {
  const TemporaryFile file(text);
  return read_libsvm(file.path(), options, comm::Communicator::self(), 2);
}

std::vector<float> column_of(const table::Table& table, std::size_t j) {
  return {table.column(j).begin(), table.column(j).end()};
}

/// The message about a file of this text, without its name; chunks of any size must give the same answer.
std::string libsvm_refusal(const std::string& text, LibsvmOptions options = {}) {
  const TemporaryFile file(text);
  std::string first;
  for (const std::size_t chunk_bytes : {std::size_t{1} << 19, std::size_t{1}, std::size_t{3}, std::size_t{11}}) {
    options.chunk_bytes = chunk_bytes;
    std::string refusal = "not refused";
    try {
      read_libsvm(file.path(), options, comm::Communicator::self(), 2);
    } catch (const InputError& error) {
      refusal = error.what();
      if (refusal.starts_with(file.path().string())) refusal.erase(0, file.path().string().size() + 1);
    }
    if (first.empty()) first = refusal;
    EXPECT_EQ(refusal, first) << "chunks of " << chunk_bytes;
  }
  return first;
}

TEST(Libsvm, PairsBecomeColumnsAndWhatIsAbsentIsZero) {
  const auto table = read_libsvm_text("1 1:0.5 3:-2e-3\n-1 2:+4\n0\n");
  EXPECT_EQ(table.schema().features, (std::vector<std::string>{"f1", "f2", "f3"}));
  EXPECT_EQ(table.schema().label, "label");
  EXPECT_EQ(column_of(table, 0), (std::vector<float>{0.5F, 0, 0}));
  EXPECT_EQ(column_of(table, 1), (std::vector<float>{0, 4, 0}));
  EXPECT_EQ(column_of(table, 2), (std::vector<float>{-0.002F, 0, 0}));
  EXPECT_EQ(column_of(table, 3), (std::vector<float>{1, -1, 0}));
}

TEST(Libsvm, BlanksCommentsQuotesAndLineEndsDoNotCount) {
  const std::string plain = "1 1:1 2:2\n2 1:3\n3 2:4\n";
  const std::string same[] = {"# by \"hand\n\n  \t\n1 1:1 2:2\n2 1:3\n3 2:4\n", "1 1:1 2:2\r\n2 1:3\r\n3 2:4\r\n\r\n",
                              "\t1  1:1\t2:2 \n2 1:3#it's 9:9\n3 2:4 # \"\n", "\xef\xbb\xbf+1 1:1 2:2\n2 1:3\n3 2:4",
                              gzip(plain)};
  for (const std::string& text : same) {
    for (const std::size_t chunk_bytes : {1, 2, 5, 1000}) {
      EXPECT_EQ(table_bits(read_libsvm_text(text, {.chunk_bytes = chunk_bytes})), table_bits(read_libsvm_text(plain)))
          << text;
    }
  }
}

TEST(Libsvm, NumbersAreTheNearestFloats) {
  const auto table = read_libsvm_text("0.1 1:16777217 2:1.00000005960464477540\n-1e-46 1:inf 2:nan\n");
  EXPECT_EQ(table.label()[0], 0.1F);
  EXPECT_EQ(table.feature(0)[0], 16777216.0F);
  EXPECT_EQ(table.feature(1)[0], std::strtof("1.00000005960464477540", nullptr));
  EXPECT_TRUE(std::isinf(table.feature(0)[1]));
  EXPECT_TRUE(std::isnan(table.feature(1)[1]));
  EXPECT_TRUE(std::isnan(read_libsvm_text("1 1:-999.0\n", {.missing = {"-999"}}).feature(0)[0]));
}

TEST(Libsvm, IndicesMayCountFromZero) {
  const auto table = read_libsvm_text("1 0:5 2:7\n", {.zero_based = true});
  EXPECT_EQ(table.schema().features, (std::vector<std::string>{"f0", "f1", "f2"}));
  EXPECT_EQ(table.feature(0)[0], 5);
  EXPECT_EQ(table.feature(2)[0], 7);
}

TEST(Libsvm, FeaturesAreAsManyAsTheFileOrTheModelHas) {
  const std::string text = "1 1:1\n1 2:1\n";
  EXPECT_EQ(read_libsvm_text(text).n_features(), 2);
  EXPECT_EQ(read_libsvm_text(text, {.rows = {.last_row = 1}}).n_features(), 2)
      << "it does not depend on the rows that are chosen";
  EXPECT_EQ(read_libsvm_text(text, {.n_features = 5}).n_features(), 5);
  const table::Schema model{.features = {"f1", "f4"}, .label = "label", .weight = {}, .categories = {}};
  const auto wider = read_libsvm_text(text, {.applied = model});
  EXPECT_EQ(libsvm_refusal(text, {.n_features = 1, .applied = model}), " 1 features are asked for, the model has 4");
  EXPECT_EQ(wider.n_features(), 4);
  EXPECT_EQ(column_of(wider, 3), (std::vector<float>{0, 0}));
  EXPECT_EQ(read_libsvm_text("1 9:1\n", {.applied = model}).n_features(), 9);
  EXPECT_EQ(read_libsvm_text(text, {.zero_based = true, .applied = model}).n_features(), 5);
  const table::Schema named{.features = {"a", "b", "c"}, .label = "y", .weight = {}, .categories = {}};
  EXPECT_EQ(read_libsvm_text(text, {.applied = named}).n_features(), 3) << "other names are matched by order";
  const table::Schema absurd{.features = {"f99999999999999999999"}, .label = "y", .weight = {}, .categories = {}};
  EXPECT_EQ(read_libsvm_text(text, {.applied = absurd}).n_features(), 2);
}

TEST(Libsvm, RowsAndColumnsAreChosen) {
  const auto table = read_libsvm_text("# x\n0 1:1\n1 1:2 2:3\n2 3:4\n", {.columns = {"f3", "f1"}, .rows = {1}});
  EXPECT_EQ(table.schema().features, (std::vector<std::string>{"f3", "f1"}));
  EXPECT_EQ(column_of(table, 0), (std::vector<float>{0, 4}));
  EXPECT_EQ(column_of(table, 1), (std::vector<float>{2, 0}));
  EXPECT_EQ(column_of(table, 2), (std::vector<float>{1, 2}));
}

TEST(Libsvm, WindowsHaveTheSameRows) {
  std::string text;
  for (int i = 0; i < 3000; ++i)
    text += std::to_string(i) + " " + std::to_string(1 + i % 7) + ":" + std::to_string(i) + "\n";
  const TemporaryFile file(text);
  const auto rows = open_libsvm(file.path(), {}, comm::Communicator::self(), 2, 1);
  std::vector<float> seen;
  rows->for_each_window(
      [&](const table::Table& window) { seen.insert(seen.end(), window.feature(6).begin(), window.feature(6).end()); });
  EXPECT_EQ(seen, column_of(read_libsvm_text(text), 6));
  EXPECT_EQ(rows->labels().label()[2999], 2999);
}

TEST(Libsvm, RowsThatAreNoneAreRefusedWithTheirLine) {
  EXPECT_EQ(libsvm_refusal("1 1:1\n1 2\n"), "2: '2' is not index:value");
  EXPECT_EQ(libsvm_refusal("# a\n1 1:1\n1 x:2\n"), "3: 'x:2' is not index:value");
  EXPECT_EQ(libsvm_refusal("1 1:1 : 2:1\n"), "1: ':' is not index:value");
  EXPECT_EQ(libsvm_refusal("1 -1:1\n"), "1: '-1:1' is not index:value");
  EXPECT_EQ(libsvm_refusal("1 1:\n"), "1: the value of index 1 is '', which is no number");
  EXPECT_EQ(libsvm_refusal("1 1: 2\n"), "1: the value of index 1 is '', which is no number");
  EXPECT_EQ(libsvm_refusal("1 1:2x\n"), "1: the value of index 1 is '2x', which is no number");
  EXPECT_EQ(libsvm_refusal("1 1:1e39\n"), "1: the value of index 1 is '1e39', beyond float32, which ends at 3.4e38");
  EXPECT_EQ(libsvm_refusal("1:1\n"), "1: the label is '1:1', which is no number");
  EXPECT_EQ(libsvm_refusal("1,2 1:1\n"), "1: the label is '1,2', which is no number");
  EXPECT_EQ(libsvm_refusal("1 qid:7 1:1\n"),
            "1: 'qid:7' is of rows that are to be ranked, which Podere does not do: take it out");
  EXPECT_EQ(libsvm_refusal("1 1:1\r2 1:1\n"), "1: a carriage return inside a line; lines end with LF or CRLF");
}

TEST(Libsvm, IndicesThatDoNotRiseAreRefused) {
  EXPECT_EQ(libsvm_refusal("1 9:1\n1 3:1 3:1\n"), "2: index 3 stands twice");
  EXPECT_EQ(libsvm_refusal("1 9:1\n1 3:1 2:1\n"), "2: index 2 stands behind 3; they must rise");
  EXPECT_EQ(libsvm_refusal("1 3:1 2:1\n"), "1: index 2 stands behind 3; they must rise");
}

TEST(Libsvm, IndicesOutOfRangeAreRefused) {
  const std::string advice = "index 0, where indices count from 1: say --zero-based if they count from 0 in this file";
  EXPECT_EQ(libsvm_refusal("1 1:1\n1 0:1 1:1\n"), "2: " + advice);
  EXPECT_EQ(libsvm_refusal("1 0:1\n"), "1: " + advice);
  EXPECT_EQ(libsvm_refusal("1 1:1\n1 4:1\n", {.n_features = 3}),
            "2: index 4 is beyond the 3 features that are asked for");
  EXPECT_EQ(libsvm_refusal("1 1:1\n1 3:1\n", {.n_features = 3, .zero_based = true}),
            "2: index 3 is beyond the 3 features that are asked for");
  EXPECT_EQ(libsvm_refusal("1 1:1\n1 2:1 1000001:1 # 7:1\n"),
            "2: index 1000001 is beyond the 1000000 features that a table can have");
  EXPECT_EQ(libsvm_refusal("1 18446744073709551617:1\n"),
            "1: index 18446744073709551617 is beyond the 1000000 features that a table can have");
  EXPECT_EQ(libsvm_refusal("1 1:1\n", {.n_features = 1000001}),
            " 1000001 features are asked for; a table can have 1000000");
}

TEST(Libsvm, AFileWithoutRowsOrFeaturesIsRefused) {
  EXPECT_EQ(libsvm_refusal(""), " has no rows");
  EXPECT_EQ(libsvm_refusal("# a\n\n# b"), " has no rows");
  EXPECT_EQ(libsvm_refusal("1\n2\n"), " has no features: there is no index:value");
  EXPECT_EQ(libsvm_refusal("1 1:1\n", {.rows = {1}}),
            " rows 1 to 1 are asked for, end excluded; there are rows 0 to 1");
  EXPECT_EQ(libsvm_refusal("1 1:1\n", {.columns = {"f2"}}), " there is no feature 'f2'; there are f1 to f1");
  EXPECT_EQ(libsvm_refusal("1 1:1\n", {.columns = {"f1", "f1"}}), " feature 'f1' is asked for twice");
  EXPECT_THROW(read_libsvm_text("1 1:1" + std::string(5000, ' ') + "\n", {.chunk_bytes = 64, .max_line_bytes = 100}),
               InputError);
}

TEST(Libsvm, BlankLinesAndCommentsAreNoRows) {
  const auto table = read_libsvm_text("# a\n\n1 1:1 # b\n  \t\n2 1:2\n# 3 1:3\n\n", {.chunk_bytes = 4});
  ASSERT_EQ(table.n_rows(), 2);
  EXPECT_EQ(table.label()[1], 2);
  EXPECT_EQ(table.feature(0)[1], 2);
}

TEST(Libsvm, ATableBeyondTheMemoryIsRefused) {
  std::string text;
  for (int i = 0; i < 2'000'000; ++i) text += "1 1000000:1\n";  // 8 TB
  try {
    read_libsvm_text(text);
    FAIL() << "not refused";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("1000000 columns take 8000.0 GB of memory"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace podere::io
