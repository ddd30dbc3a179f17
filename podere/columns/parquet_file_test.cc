#include "podere/columns/parquet_file.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>

#include "podere/base/error.h"
#include "podere/columns/column_rows.h"
#include "podere/columns/parquet_values.h"
#include "podere/io/csv_reference.h"

namespace podere::columns {
namespace {

using io::TemporaryFile;

const std::filesystem::path kFiles = std::filesystem::path(PODERE_TEST_DATA) / "columns";

/// The table of a file, or what is reported of it, without its name.
std::string parquet_outcome(const std::filesystem::path& path, const io::CsvOptions& options = {}) {
  try {
    const auto open = [&] { return open_parquet(path); };
    const table::Table table = read_columns(open, options, comm::Communicator::self(), 2);
    return fmt::format("{} rows of {} columns", table.n_rows(), table.n_columns());
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with(path.string())) << message;
    EXPECT_EQ(message.find('\n'), message.npos) << message;
    return message.substr(std::min(path.string().size(), message.size()));
  }
}

std::string outcome_of_bytes(const std::string& bytes, const io::CsvOptions& options = {}) {
  const TemporaryFile file(bytes);
  return parquet_outcome(file.path(), options);
}

const io::CsvOptions kAll = {.label = "kind", .finds_categories = true};

TEST(ParquetFile, IsATable) { EXPECT_EQ(parquet_outcome(kFiles / "snappy.parquet", kAll), "40 rows of 9 columns"); }

TEST(ParquetFile, SaysWhatItsColumnsAre) {
  const auto file = open_parquet(kFiles / "kinds.parquet");
  std::map<std::string, std::pair<Kind, std::string>> found;
  for (const Column& column : file->columns()) found[column.name] = {column.kind, column.type};
  const std::map<std::string, std::pair<Kind, std::string>> wanted = {
      {"x", {Kind::kNumber, "double"}},      {"list", {Kind::kOther, "list"}},
      {"struct", {Kind::kOther, "struct"}},  {"map", {Kind::kOther, "map"}},
      {"bytes", {Kind::kOther, "binary"}},   {"price", {Kind::kNumber, "decimal"}},
      {"clock", {Kind::kTimeOfDay, "time"}}, {"half", {Kind::kNumber, "float16"}},
      {"large", {Kind::kNumber, "uint64"}},  {"beyond", {Kind::kNumber, "double"}},
      {"nothing", {Kind::kNumber, "null"}}};
  EXPECT_EQ(found, wanted);
  EXPECT_EQ(file->group_begins(), (std::vector<std::uint64_t>{0, 3}));
}

TEST(ParquetFile, HasTextsOfNumbersToo) {
  const auto file = open_parquet(kFiles / "kinds.parquet");
  std::map<std::string, std::vector<std::string>> texts;
  std::vector<ColumnRead> wanted;
  for (std::size_t i = 0; i < file->columns().size(); ++i) {
    if (file->columns()[i].kind == Kind::kOther) continue;
    const auto take = [&, i](std::size_t, std::string_view text) { texts[file->columns()[i].name].emplace_back(text); };
    wanted.push_back({i, {}, take});
  }
  file->read({0, 3}, wanted);
  using Texts = std::vector<std::string>;
  EXPECT_EQ(texts["price"], (Texts{"1.25", "-2.5"}));
  EXPECT_EQ(texts["clock"], (Texts{"01:00:00", "12:00:00"}));
  EXPECT_EQ(texts["large"], (Texts{"9223372036854775808", "5", "0"}));
  EXPECT_EQ(texts["half"], (Texts{"1.5", "-2", "0.25"}));
  EXPECT_FALSE(texts.contains("nothing"));
}

/// Rows [begin, end) of a column one by one and all at once.
TEST(ParquetFile, GivesAnyRowsOfAGroup) {
  for (const char* const name : {"zstd.parquet", "encodings.parquet", "fastparquet.parquet"}) {
    const auto file = open_parquet(kFiles / name);
    const auto& begins = file->group_begins();
    for (std::size_t column = 0; column < file->columns().size(); ++column) {
      if (file->columns()[column].kind == Kind::kText) continue;
      for (std::size_t group = 0; group + 1 < begins.size(); ++group) {
        std::vector<float> all(begins[group + 1] - begins[group]), some(all.size());
        const auto read = [&](std::uint64_t begin, std::uint64_t end, std::span<float> to) {
          const ColumnRead wanted{column, to};
          file->read({begin, end}, {&wanted, 1});
        };
        read(begins[group], begins[group + 1], all);
        for (std::size_t i = 0; i < all.size(); ++i) {
          read(begins[group] + i, begins[group] + i + 1, std::span(some).subspan(i, 1));
          EXPECT_TRUE(some[i] == all[i] || (some[i] != some[i] && all[i] != all[i])) << name << column << ' ' << i;
        }
      }
    }
  }
}

TEST(ParquetFile, ThatIsCutOffIsRefused) {
  const std::string whole = io::file_text(kFiles / "encodings.parquet");
  for (std::size_t n = 0; n < whole.size(); n += n < 200 || n + 200 > whole.size() ? 1 : 37) {
    EXPECT_EQ(outcome_of_bytes(whole.substr(0, n)).substr(0, 28), ": is no whole Parquet file: ") << n;
  }
}

/// Whatever a bit does, the file is read or refused in one line.
TEST(ParquetFile, WithAWrongBitIsReadOrRefused) {
  for (const char* const name : {"encodings.parquet", "duckdb.parquet", "lz4.parquet"}) {
    const std::string whole = io::file_text(kFiles / name);
    std::set<std::string> refusals;
    for (std::size_t i = 0; i < whole.size(); i += 7) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
      io::CsvOptions options = kAll;
      options.rows.last_row = 40;
      refusals.insert(outcome_of_bytes(damaged, options));
    }
    EXPECT_GT(refusals.size(), 5) << name;
  }
}

TEST(ParquetFile, ThatIsPackedOrEncryptedIsRefused) {
  std::string whole = io::file_text(kFiles / "none.parquet");
  EXPECT_NE(outcome_of_bytes(io::gzip(whole)).find("unpack it first"), std::string::npos);
  whole.back() = 'E';
  EXPECT_NE(outcome_of_bytes(whole).find("is encrypted"), std::string::npos);
}

TEST(ParquetValues, RunsAndPackedBits) {
  const auto read = [](std::string_view bytes, int width, std::size_t n) {
    std::vector<std::uint32_t> numbers(n);
    return read_runs(bytes, width, numbers) ? std::optional(numbers) : std::nullopt;
  };
  using Numbers = std::vector<std::uint32_t>;
  // The example of the format: 0 to 7, of three bits.
  EXPECT_EQ(read("\x03\x88\xc6\xfa", 3, 8), (Numbers{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(read("\x06\x05\x03\x88\xc6\xfa", 3, 6), (Numbers{5, 5, 5, 0, 1, 2}));
  EXPECT_EQ(read(std::string_view("\x08\x00", 2), 1, 4), (Numbers{0, 0, 0, 0}));
  EXPECT_EQ(read(std::string_view("\x08", 1), 0, 4), (Numbers{0, 0, 0, 0}));
  EXPECT_EQ(read(std::string_view("\x03", 1), 0, 8), Numbers(8));
  EXPECT_EQ(read("\x06\x05", 3, 4), std::nullopt);
  EXPECT_EQ(read("\x03\x88", 3, 8), std::nullopt);
  EXPECT_EQ(read(std::string_view("\0\0\0\0", 4), 3, 1), std::nullopt);
  EXPECT_EQ(read("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 3, 1), std::nullopt);
}

}  // namespace
}  // namespace podere::columns
