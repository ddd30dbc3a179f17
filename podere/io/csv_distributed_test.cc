#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <optional>
#include <string>

#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/io/csv.h"
#include "podere/io/csv_reference.h"
#include "podere/io/distributed_reference.h"

namespace podere::io {
namespace {

std::string text_of_rows(std::size_t n_rows) {
  std::string text = "y,note,a,b\n";
  for (std::size_t i = 0; i < n_rows; ++i) {
    RandomSequence random(5, 0, i);
    const char* const note = std::array{"", "\"\n\"", "\"a \"\"b\"\",\n\n\"", "x"}[random.next() % 4];
    text += fmt::format("{},{},{:.18e},{}\n", i % 2, note, 4 * random.uniform() - 2, random.next() % 5 ? "0.25" : "");
  }
  return text;
}

void expect_same_table(const std::filesystem::path& path, CsvOptions options) {
  options.label = "y";
  options.weight = "b";
  options.columns = {"a"};
  const auto whole = read_csv(path, options, comm::Communicator::self(), 1);
  for (const int n_threads : {1, 3}) {
    for (const std::size_t chunk_bytes : {37UL, 4096UL, 1UL << 20}) {
      options.chunk_bytes = chunk_bytes;
      const auto table = read_csv(path, options, world(), n_threads);
      EXPECT_EQ(table.n_global_rows(), whole.n_rows());
      EXPECT_EQ(table.rows(), table::rows_of(whole.n_rows(), world().rank(), world().size()));
      EXPECT_EQ(gathered_bits(table), table_bits(whole));
    }
  }
}

TEST(CsvDistributed, TheTableIsTheSameOnAnyNumberOfRanksAndThreads) {
  const std::string text = text_of_rows(6000);
  const SharedFile plain(text), packed(gzip(text));
  for (const auto* const file : {&plain, &packed}) {
    expect_same_table(file->path(), {});
    expect_same_table(file->path(), {.rows = {100, 5500}});
  }
}

TEST(CsvDistributed, TheTableEqualsThatOfAPlainReader) {
  const std::string text = text_of_rows(5000);
  const SharedFile file(text);
  const auto table = read_csv(file.path(), {.label = "y", .columns = {"a", "b"}, .chunk_bytes = 1000}, world(), 2);
  const auto rows = reference_rows(text, ',');
  ASSERT_EQ(table.n_global_rows(), rows.size() - 1);
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    const auto& fields = rows[table.global({i}).value + 1];
    EXPECT_EQ(table.label()[i], reference_value(fields[0]));
    EXPECT_EQ(table.feature(0)[i], reference_value(fields[2]));
    EXPECT_EQ(std::isnan(table.feature(1)[i]), fields[3].empty());
  }
}

TEST(CsvDistributed, FormsAndRowsAreFoundAlikeOnAnyNumberOfRanksAndThreads) {
  std::string text = "# made up\n,day;amount;town;note;y;\n";
  for (std::size_t i = 0; i < 3000; ++i) {
    const std::string_view between = std::array{"", "\n", "# \"\n", "  \r\n"}[i * i % 7 % 4];
    text += fmt::format("{}{};{:02}/{:02}/2026;{},{};town {};note {};{};\n", between, i, 1 + i / 110, 1 + i % 12, i,
                        i % 9, i % 5, i, i % 2);
  }
  text.replace(text.find("\n,day") + 1, 1, ";");
  const SharedFile plain(text), packed(gzip(text));
  CsvOptions options{.comment = '#', .label = "y", .finds_categories = true};
  const auto whole = read_csv(plain.path(), options, comm::Communicator::self(), 1);
  EXPECT_EQ(whole.schema().features, (std::vector<std::string>{"day", "amount", "town"}));
  EXPECT_EQ(whole.schema().dates, (std::set<std::size_t>{0}));
  EXPECT_EQ(whole.schema().categories.size(), 1);
  EXPECT_EQ(whole.n_rows(), 3000);
  for (const SharedFile* file : {&plain, &packed}) {
    for (const std::size_t chunk_bytes : {23UL, 4096UL, 1UL << 20}) {
      options.chunk_bytes = chunk_bytes;
      ReadFacts facts;
      const auto table = read_csv(file->path(), options, world(), 2, &facts);
      EXPECT_EQ(table.schema(), whole.schema());
      EXPECT_EQ(gathered_bits(table), table_bits(whole));
      EXPECT_EQ(facts.left_out.size(), 2);
      EXPECT_EQ(facts.read_as.size(), 2);
    }
  }
}

TEST(CsvDistributed, CategoriesHaveTheSameCodesOnAnyNumberOfRanksAndThreads) {
  std::string text = "y,city,kind\n";
  for (std::size_t i = 0; i < 6000; ++i) {
    // Later rows bring texts that earlier ones, on other ranks, do not have.
    text += fmt::format("{},\"town {}, {}\",{}\n", i % 2, i * i % 977, i / 1500, i % 7 == 0 ? "" : "k");
  }
  const SharedFile file(text);
  CsvOptions options{.label = "y", .columns = {"city", "kind"}, .categorical = {"city", "kind"}};
  const auto whole = read_csv(file.path(), options, comm::Communicator::self(), 1);
  EXPECT_GT(whole.schema().categories.at(0)->size(), 1000);
  CsvOptions coded = options;
  coded.coded_as = whole.schema();
  coded.coded_as->categories.at(0)->erase(coded.coded_as->categories.at(0)->begin());
  ReadFacts of_whole;
  read_csv(file.path(), coded, comm::Communicator::self(), 1, &of_whole);
  EXPECT_EQ(of_whole.unknown.size(), 1);
  for (const int n_threads : {1, 3}) {
    options.chunk_bytes = 4096;
    const auto table = read_csv(file.path(), options, world(), n_threads);
    EXPECT_EQ(table.schema(), whole.schema());
    for (std::size_t j = 0; j < 2; ++j) {
      const auto column = world().all_gather_v<float>(table.feature(j));
      for (std::size_t i = 0; i < whole.n_rows(); ++i) {
        const float expected = whole.feature(j)[i];
        ASSERT_TRUE(column[i] == expected || (column[i] != column[i] && expected != expected)) << i;
      }
    }
    ReadFacts facts;
    read_csv(file.path(), coded, world(), n_threads, &facts);
    EXPECT_EQ(facts.unknown, of_whole.unknown);
  }
}

TEST(CsvDistributed, RowsThatAreNotHeldAreThoseThatAre) {
  const std::string text = text_of_rows(6000);
  const SharedFile plain(text), packed(gzip(text));
  for (const auto* const file : {&plain, &packed}) {
    for (const std::size_t chunk_bytes : {4096UL, 1UL << 20}) {
      for (const std::size_t window_bytes : {1UL, table::kWindowBytes}) {
        const CsvOptions options{.label = "y",
                                 .weight = "b",
                                 .columns = {"a", "note"},
                                 .categorical = {"note"},
                                 .rows = {50, 5900},
                                 .chunk_bytes = chunk_bytes};
        const table::Table table = joined(*open_csv(file->path(), options, world(), 3, window_bytes));
        const table::Table expected = read_csv(file->path(), options, world(), 2);
        EXPECT_EQ(table.schema(), expected.schema());
        EXPECT_EQ(table.n_global_rows(), 5850);
        EXPECT_EQ(table_bits(table), table_bits(expected));
      }
    }
  }
}

TEST(CsvDistributed, RanksWithoutRowsHoldAnEmptyTable) {
  const SharedFile file("a,b\n1,2\n");
  const auto table = read_csv(file.path(), {}, world(), 2);
  EXPECT_EQ(table.n_global_rows(), 1);
  EXPECT_EQ(table.n_rows(), world().is_root() ? 1 : 0);
  EXPECT_EQ(table.schema().features.size(), 2);
}

std::string message_of(const std::filesystem::path& path, const CsvOptions& options, int n_threads) {
  try {
    read_csv(path, options, world(), n_threads);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(CsvDistributed, TheFirstFaultInTheFileIsReportedOnAllRanks) {
  std::string text = "a,b\n";
  for (std::size_t i = 0; i < 9000; ++i)
    text += i == 8500 ? "1\n" : i == 4321 ? "1,x\n" : i == 4400 ? "y,1\n" : "1,2\n";
  const SharedFile file(text);
  for (const std::size_t chunk_bytes : {5UL, 1000UL, 1UL << 20}) {
    for (const int n_threads : {1, 3}) {
      EXPECT_EQ(message_of(file.path(), {.header = true, .chunk_bytes = chunk_bytes}, n_threads),
                file.path().string() +
                    ":4323: column 'b' (position 1): 'x' is neither a number nor a text for a missing value");
    }
  }
}

TEST(CsvDistributed, RowsThatAreNotHeldHaveTheSameFaults) {
  std::string text = "a,b\n";
  for (std::size_t i = 0; i < 9000; ++i) text += i == 4321 ? "1,x\n" : i == 8500 ? "1\n" : "1,2\n";
  const SharedFile file(text);
  try {
    open_csv(file.path(), {.header = true}, world(), 2, 1);
    FAIL() << "it was read";
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(), message_of(file.path(), {.header = true}, 1));
  }
}

TEST(CsvDistributed, RowsThatAreNotHeldMustNotChange) {
  const SharedFile file("y,a\n0,1\n1,2\n0,3\n");
  const auto rows = open_csv(file.path(), {.label = "y"}, world(), 1, 1);
  world().barrier();
  if (world().is_root()) std::ofstream(file.path()) << "y,a\n0,1\n1,2\n0,4\n" << std::flush;
  world().barrier();
  if (!world().is_root()) return;  // all rows are there
  EXPECT_THROW(rows->for_each_window([](const table::Table&) {}), InputError);
}

TEST(CsvDistributed, AFileThatIsNotThereIsReportedOnAllRanks) {
  EXPECT_EQ(message_of("/nowhere/x.csv", {}, 1), "/nowhere/x.csv: cannot be read: No such file or directory");
}

TEST(CsvDistributed, AFileThatOneRankCannotSeeIsReportedOnAllRanks) {
  const SharedFile file("1,2\n");
  const bool is_last = world().rank() == world().size() - 1;
  EXPECT_NE(message_of(is_last ? "/nowhere/x.csv" : file.path(), {}, 1).find("/nowhere/x.csv: cannot be read"),
            std::string::npos);
}

TEST(CsvDistributed, FilesThatDifferBetweenRanksAreRefused) {
  if (world().size() == 1) GTEST_SKIP() << "one rank reads one file";
  const TemporaryFile mine(world().is_root() ? "1,2\n" : "1,2\n3,4\n");
  EXPECT_NE(message_of(mine.path(), {}, 1).find("is not the same file on all executors"), std::string::npos);
}

}  // namespace
}  // namespace podere::io
