#include "podere/io/idx.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "podere/base/error.h"
#include "podere/io/csv_reference.h"
#include "podere/io/idx_reference.h"

namespace podere::io {
namespace {

using Bytes = std::vector<std::uint8_t>;

table::Table read_bytes(const std::string& bytes, const IdxOptions& options = {}) {
  const TemporaryFile file(bytes);
  return read_idx(file.path(), options, comm::Communicator::self(), 2);
}

std::vector<float> column(const table::Table& table, std::size_t j) {
  return {table.feature(j).begin(), table.feature(j).end()};
}

/// The message about a file of these bytes, without its name.
std::string idx_refusal(const std::string& bytes, const IdxOptions& options = {}) {
  const TemporaryFile file(bytes);
  try {
    read_idx(file.path(), options, comm::Communicator::self(), 2);
  } catch (const InputError& error) {
    const std::string message = error.what();
    return message.starts_with(file.path().string()) ? message.substr(file.path().string().size()) : message;
  }
  return "not refused";
}

const std::string kImages = idx_file<std::uint8_t>(0x08, {3, 1, 2}, {0, 255, 7, 8, 1, 2});

TEST(Idx, ImagesBecomePixels) {
  const auto table = read_bytes(kImages);
  EXPECT_EQ(table.schema().features, (std::vector<std::string>{"pixel1", "pixel2"}));
  EXPECT_EQ(table.schema().label, std::nullopt);
  EXPECT_EQ(column(table, 0), (std::vector<float>{0, 7, 1}));
  EXPECT_EQ(column(table, 1), (std::vector<float>{255, 8, 2}));
}

TEST(Idx, ArraysOfFewerDimensionsHaveNumberedFeatures) {
  const auto table = read_bytes(idx_file<std::uint8_t>(0x08, {2, 3}, {1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(table.schema().features, (std::vector<std::string>{"f0", "f1", "f2"}));
  EXPECT_EQ(column(table, 2), (std::vector<float>{3, 6}));
  EXPECT_EQ(read_bytes(idx_file<std::uint8_t>(0x08, {2}, {9, 8})).schema().features, std::vector<std::string>{"f0"});
}

TEST(Idx, EveryTypeIsRead) {
  EXPECT_EQ(column(read_bytes(idx_file<std::int8_t>(0x09, {2}, {-128, 127})), 0), (std::vector<float>{-128, 127}));
  EXPECT_EQ(column(read_bytes(idx_file<std::int16_t>(0x0b, {2}, {-32768, 258})), 0), (std::vector<float>{-32768, 258}));
  EXPECT_EQ(column(read_bytes(idx_file<std::int32_t>(0x0c, {2}, {-2147483647 - 1, 16777217})), 0),
            (std::vector<float>{-2147483648.0F, 16777216}));
  EXPECT_EQ(column(read_bytes(idx_file<float>(0x0d, {2}, {-0.1F, 1e-38F})), 0), (std::vector<float>{-0.1F, 1e-38F}));
  EXPECT_EQ(column(read_bytes(idx_file<double>(0x0e, {2}, {0.1, -1e300 / 1e299})), 0), (std::vector<float>{0.1F, -10}));
}

TEST(Idx, NanIsMissingAndInfinityAnError) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(column(read_bytes(idx_file<float>(0x0d, {2}, {nan, 1})), 0)[0]));
  EXPECT_EQ(idx_refusal(idx_file<double>(0x0e, {2, 2}, {1, 2, 3, 1e39})),
            " has infinity, or a value too large for float32, in row 1, column 1; allowed are finite numbers");
}

TEST(Idx, LabelsComeFromAnotherFile) {
  const TemporaryFile labels(idx_file<std::uint8_t>(0x08, {3}, {5, 0, 4}));
  const auto table = read_bytes(kImages, {.labels = labels.path()});
  EXPECT_EQ(table.schema().label, "label");
  EXPECT_EQ(std::vector<float>(table.label().begin(), table.label().end()), (std::vector<float>{5, 0, 4}));
  EXPECT_EQ(column(table, 0), (std::vector<float>{0, 7, 1}));
}

TEST(Idx, RowsAndColumnsAreChosen) {
  const TemporaryFile labels(idx_file<std::uint8_t>(0x08, {3}, {5, 0, 4}));
  const auto table = read_bytes(kImages, {.labels = labels.path(), .columns = {"pixel2"}, .rows = {1, 3}});
  EXPECT_EQ(table.schema().features, std::vector<std::string>{"pixel2"});
  EXPECT_EQ(column(table, 0), (std::vector<float>{8, 2}));
  EXPECT_EQ(table.label()[0], 0);
  EXPECT_EQ(column(read_bytes(kImages, {.columns = {"pixel2", "pixel1"}}), 1), (std::vector<float>{0, 7, 1}));
}

TEST(Idx, GzipFilesAndWindowsGiveTheSameTable) {
  Bytes values;
  for (std::size_t i = 0; i < 5000UL * 700; ++i) values.push_back(static_cast<std::uint8_t>(i * i / 7 + i % 251));
  const std::string bytes = idx_file(0x08, {5000, 35, 20}, values);
  const auto plain = read_bytes(bytes);
  for (std::size_t i = 0; i < values.size(); i += 997) ASSERT_EQ(plain.feature(i % 700)[i / 700], values[i]) << i;
  EXPECT_EQ(table_bits(read_bytes(gzip(bytes))), table_bits(plain));
  const TemporaryFile packed(gzip(bytes));
  const auto rows = open_idx(packed.path(), {.columns = {"pixel7"}}, comm::Communicator::self(), 2, 1);
  std::vector<float> seen;
  std::size_t n_windows = 0;
  rows->for_each_window([&](const table::Table& window) {
    seen.insert(seen.end(), window.feature(0).begin(), window.feature(0).end());
    ++n_windows;
  });
  EXPECT_EQ(seen, column(plain, 6));
  EXPECT_EQ(n_windows, 5);
}

TEST(Idx, AHeaderThatIsNoneIsRefused) {
  EXPECT_EQ(idx_refusal(""), ": byte 0: the file ends within its header");
  EXPECT_EQ(idx_refusal(std::string("\0\0\x08", 3)), ": byte 3: the file ends within its header");
  EXPECT_EQ(idx_refusal(std::string("\0\0\x08\x02\0\0\0\x01\0", 9)), ": byte 9: the file ends within its header");
  EXPECT_EQ(idx_refusal("1,2\n3,4\n"), ": byte 0: IDX files begin with two bytes 0");
  EXPECT_EQ(idx_refusal(std::string("\0\0\x0a\x01\0\0\0\x01z", 9)),
            ": byte 2: the type is 0x0a; those of IDX are 0x08, 0x09 and 0x0b to 0x0e");
  EXPECT_EQ(idx_refusal(std::string("\0\0\x08\0", 4)), ": byte 3: there are 0 dimensions; at least 1 is needed");
}

TEST(Idx, SizesThatNoFileHasAreRefused) {
  EXPECT_EQ(idx_refusal(idx_file<std::uint8_t>(0x08, {0, 2}, {})), ": byte 4: the size of dimension 0 is 0");
  EXPECT_EQ(idx_refusal(idx_file<std::uint8_t>(0x08, {2, 0}, {})), ": byte 8: the size of dimension 1 is 0");
  EXPECT_EQ(idx_refusal(idx_file<std::uint8_t>(0x08, {2, 1000, 1001}, {})),
            ": byte 12: a row has 1001000 values or more; a table can have 1000000 features");
  EXPECT_EQ(idx_refusal(idx_file<std::uint8_t>(0x08, std::vector<std::uint32_t>(255, 0xffffffff), {})),
            ": byte 8: a row has 4294967295 values or more; a table can have 1000000 features");
  EXPECT_EQ(idx_refusal(idx_file<double>(0x0e, {0xffffffff, 1000, 1000}, {})),
            ": byte 16: the file is cut: its header names 4294967295 x 1000 x 1000 values of 8 bytes, "
            "34359738360000016 bytes in all");
}

TEST(Idx, AFileThatIsCutOrTooLongIsRefused) {
  const std::string cut = kImages.substr(0, kImages.size() - 1);
  for (const std::string& bytes : {cut, gzip(cut)}) {
    EXPECT_EQ(idx_refusal(bytes),
              ": byte 21: the file is cut: its header names 3 x 1 x 2 values of 1 bytes, 22 bytes in all");
  }
  for (const std::string& bytes : {kImages + "x", gzip(kImages + "x")}) {
    EXPECT_EQ(idx_refusal(bytes), ": byte 22: the file continues after the 3 x 1 x 2 values of 1 bytes of its header");
  }
}

TEST(Idx, LabelsThatDoNotFitAreRefused) {
  const TemporaryFile few(idx_file<std::uint8_t>(0x08, {2}, {1, 2}));
  EXPECT_EQ(idx_refusal(kImages, {.labels = few.path()}), ": there are 3 rows, and 2 labels in " + few.path().string());
  const TemporaryFile wide(idx_file<std::uint8_t>(0x08, {3, 1}, {1, 2, 3}));
  EXPECT_EQ(idx_refusal(kImages, {.labels = wide.path()}),
            wide.path().string() + ": byte 3: labels have one dimension, these have 2");
  EXPECT_EQ(idx_refusal(kImages, {.labels = "/nowhere/labels"}),
            "/nowhere/labels: cannot be read: No such file or directory");
}

TEST(Idx, RowsAndColumnsThatAreNotThereAreRefused) {
  EXPECT_EQ(idx_refusal(kImages, {.rows = {1, 4}}), ": rows 1 to 4 are asked for, end excluded; there are rows 0 to 3");
  for (const char* name : {"pixel0", "pixel3", "pixel", "pixel01", "1", "label", ""}) {
    EXPECT_EQ(idx_refusal(kImages, {.columns = {name}}),
              ": there is no feature '" + std::string(name) + "'; there are pixel1 to pixel2");
  }
  EXPECT_EQ(idx_refusal(kImages, {.columns = {"pixel1", "pixel1"}}), ": feature 'pixel1' is asked for twice");
}

TEST(Idx, LabelsAreSoughtByTheNamesOfMnist) {
  using Paths = std::vector<std::filesystem::path>;
  EXPECT_EQ(label_files_of("/d/train-images-idx3-ubyte.gz"),
            (Paths{"/d/train-labels-idx1-ubyte.gz", "/d/train-labels-idx1-ubyte"}));
  EXPECT_EQ(label_files_of("t10k-images.idx3-ubyte"), (Paths{"t10k-labels.idx1-ubyte", "t10k-labels.idx1-ubyte.gz"}));
  EXPECT_EQ(label_files_of("images/images.idx"), (Paths{"images/labels.idx", "images/labels.idx.gz"}));
  EXPECT_EQ(label_files_of("images/digits.idx"), Paths{});
}

}  // namespace
}  // namespace podere::io
