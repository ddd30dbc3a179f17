#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <optional>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/io/csv.h"
#include "podere/io/csv_reference.h"
#include "podere/io/write_csv.h"

namespace podere::io {
namespace {

const comm::Communicator& everyone() {
  static const auto group = comm::Communicator::world();
  return group;
}

/// An empty file that rank 0 makes and all ranks see.
class SharedFile {
 public:
  SharedFile() {
    if (everyone().is_root()) file_.emplace("");
    path_ = everyone().broadcast_text(file_ ? file_->path().string() : "");
  }
  ~SharedFile() { everyone().barrier(); }
  const std::string& path() const { return path_; }

 private:
  std::optional<TemporaryFile> file_;
  std::string path_;
};

/// Any float there is, the awkward ones often.
float any_float(std::uint64_t bits) {
  const float awkward[] = {0.0F,
                           -0.0F,
                           std::numeric_limits<float>::infinity(),
                           -std::numeric_limits<float>::infinity(),
                           std::numeric_limits<float>::quiet_NaN(),
                           std::numeric_limits<float>::denorm_min(),
                           std::numeric_limits<float>::max(),
                           1e6F,
                           0.1F,
                           16777217.0F};
  return bits % 3 == 0 ? awkward[bits / 3 % std::size(awkward)]
                       : std::bit_cast<float>(static_cast<std::uint32_t>(bits >> 32));
}

const std::vector<std::string> kTexts = {" blank ",   "\"", "3",       "a \"b\", c", "comma,",
                                         "line\nend", "ok", "tab\t;|", "ü\r\n"};

/// Rows of the table that belong to `rows`; every value follows from its global row.
table::Table part(const table::Schema& schema, std::uint64_t n, table::RowRange rows) {
  table::Table table(schema, n, rows);
  for (std::size_t j = 0; j < table.n_columns(); ++j) {
    for (std::size_t i = 0; i < table.n_rows(); ++i) {
      const std::uint64_t bits = hash64(9, j, rows.begin + i);
      float& value = table.column(j)[i];
      if (!schema.is_categorical(j)) {
        value = any_float(bits);
      } else {
        value = bits % 7 == 0 ? std::numeric_limits<float>::quiet_NaN()
                              : static_cast<float>(bits / 7 % (schema.categories.at(j) ? kTexts.size() : 50));
      }
    }
  }
  return table;
}

void expect_same_when_read(const table::Schema& schema, std::uint64_t n) {
  const table::RowRange rows = table::rows_of(n, everyone().rank(), everyone().size());
  const table::Table written = part(schema, n, rows);
  for (const int n_threads : {1, 3}) {
    const SharedFile file;
    const std::uint64_t n_bytes = write_csv(written, file.path(), everyone(), n_threads);
    EXPECT_EQ(everyone().all_reduce(n_bytes, comm::Reduction::kSum), std::filesystem::file_size(file.path()));
    const CsvOptions options{.delimiter = schema.features.size() == 1 ? std::optional(',') : std::nullopt,
                             .header = true,
                             .label = schema.label,
                             .weight = schema.weight,
                             .coded_as = schema};
    const table::Table read = read_csv(file.path(), options, everyone(), n_threads);
    EXPECT_EQ(read.schema(), schema);
    EXPECT_EQ(read.rows(), rows);
    EXPECT_EQ(table_bits(read), table_bits(written));
    everyone().barrier();
  }
}

TEST(WriteCsvDistributed, WhatIsReadBackHasTheSameBits) {
  const table::Schema schemas[] = {
      {.features = {"x"}},
      {.features = {"a", "b b", "c,c", "d\"d", "e\ne"}, .label = "y", .weight = "w"},
      {.features = {"town", "x", "code"}, .label = "the label", .categories = {{0, kTexts}, {2, std::nullopt}}},
      {.features = {"x", "y"}, .weight = " w "},
  };
  for (const table::Schema& schema : schemas) {
    for (const std::uint64_t n : {1ULL, 100ULL, 1025ULL, 40000ULL}) expect_same_when_read(schema, n);
  }
}

TEST(WriteCsvDistributed, TheFileDoesNotDependOnRanksAndThreads) {
  const table::Schema schema{.features = {"a", "town"}, .label = "y", .categories = {{1, kTexts}}};
  const std::uint64_t n = 30000;
  const TemporaryFile alone("");
  write_csv(part(schema, n, {0, n}), alone.path(), comm::Communicator::self(), 1);
  const SharedFile file;
  // Uneven shares: the last rank has all, the others nothing.
  const std::uint64_t begin = everyone().rank() == everyone().size() - 1 ? 0 : n;
  const auto held = everyone().rank() < everyone().size() - 1 ? table::RowRange{0, 0} : table::RowRange{begin, n};
  write_csv(part(schema, n, held), file.path(), everyone(), 3);
  everyone().barrier();
  EXPECT_EQ(file_text(file.path()), file_text(alone.path()));
}

TEST(WriteCsvDistributed, RowsByHand) {
  table::Table table({.features = {"x", "town"}, .label = "y", .weight = "w", .categories = {{1, {{"a,b", "c"}}}}}, 3,
                     everyone().is_root() ? table::RowRange{0, 3} : table::RowRange{3, 3});
  if (everyone().is_root()) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float values[4][3] = {{0.5F, nan, -0.0F}, {0, 1, nan}, {1, 0, 1}, {2.5e-8F, 1e30F, nan}};
    for (std::size_t j = 0; j < 4; ++j) std::copy_n(values[j], 3, table.column(j).begin());
  }
  const SharedFile file;
  write_csv(table, file.path(), everyone(), 1);
  everyone().barrier();
  EXPECT_EQ(file_text(file.path()), "y,x,town,w\n1,0.5,\"a,b\",2.5e-08\n0,,c,1e+30\n1,-0,,\n");
}

TEST(WriteCsvDistributed, NoRowsAreALineOfNames) {
  const SharedFile file;
  write_csv(table::Table({.features = {"x", "two words"}}, 0, {0, 0}), file.path(), everyone(), 2);
  everyone().barrier();
  EXPECT_EQ(file_text(file.path()), "x,\"two words\"\n");
}

TEST(WriteCsvDistributed, AFileThatOneRankCannotWriteIsReportedOnAllRanks) {
  const SharedFile file;
  const bool is_last = everyone().rank() == everyone().size() - 1;
  EXPECT_THROW(
      write_csv(part({.features = {"x"}}, 10, {0, 0}), is_last ? "/nowhere/x.csv" : file.path(), everyone(), 1), Error);
}

TEST(WriteCsvDistributed, TextBeyondWhatIsHeldIsTheSame) {
  const std::uint64_t n = 2'500'000;  // 80 MB
  const table::Schema schema{.features = {"x", "y", "z"}};
  const auto rows = table::rows_of(n, everyone().rank(), everyone().size());
  if (everyone().size() > 1) GTEST_SKIP() << "each rank alone would have to hold that much";
  const table::Table written = part(schema, n, rows);
  const SharedFile file;
  EXPECT_GT(write_csv(written, file.path(), everyone(), 2), std::uint64_t{1} << 26);
  EXPECT_EQ(table_bits(read_csv(file.path(), {.header = true}, everyone(), 2)), table_bits(written));
}

}  // namespace
}  // namespace podere::io
