#include "podere/io/shard_cache.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <limits>

#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/base/temporary_folder.h"
#include "podere/io/csv_reference.h"
#include "podere/io/shard_file.h"

namespace podere::io {
namespace {

namespace fs = std::filesystem;

const comm::Communicator& alone() {
  static const auto group = comm::Communicator::self();
  return group;
}

table::Schema schema() {
  return {.features = {"a", "größe", "c"},
          .label = "y",
          .weight = "w",
          .categories = {{0, std::nullopt}, {1, {{"", "\"1\"\n", "ü"}}}}};
}

table::Table part(std::uint64_t n, table::RowRange rows, std::uint64_t seed = 1) {
  table::Table table(schema(), n, rows);
  for (std::size_t j = 0; j < table.n_columns(); ++j) {
    for (std::size_t i = 0; i < table.n_rows(); ++i) {
      const std::uint64_t bits = hash64(seed, j, rows.begin + i);
      table.column(j)[i] = bits % 9 == 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(bits % 1000);
    }
  }
  return table;
}

void expect_read(const fs::path& folder, const std::string& name, const table::Table& expected) {
  for (const int n_threads : {1, 3}) {
    const auto read = read_shards(folder, name, alone(), n_threads);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->schema(), expected.schema());
    EXPECT_EQ(read->n_global_rows(), expected.n_global_rows());
    EXPECT_EQ(table_bits(*read), table_bits(expected));
  }
}

class ShardCacheTest : public testing::Test {
 protected:
  const TemporaryFolder temporary_{fs::temp_directory_path()};
  const fs::path folder_ = temporary_.path() / "cache";
};

TEST_F(ShardCacheTest, WhatWasWrittenIsRead) {
  for (const std::uint64_t n : {1ULL, 15ULL, 16ULL, 1024ULL, 65536ULL, 200003ULL}) {
    const std::string name = "table-" + std::to_string(n);
    EXPECT_FALSE(read_shards(folder_, name, alone()));
    EXPECT_TRUE(write_shard(folder_, name, part(n, {0, n}), 2));
    expect_read(folder_, name, part(n, {0, n}));
  }
}

TEST_F(ShardCacheTest, ShardsMayOverlapInAnyWay) {
  const std::uint64_t n = 150000;
  for (const table::RowRange rows :
       {table::RowRange{0, 10}, {5, 70000}, {6, 9}, {65536, 131072}, {100000, 150000}, {149999, 150000}}) {
    EXPECT_TRUE(write_shard(folder_, "t", part(n, rows)));
  }
  expect_read(folder_, "t", part(n, {0, n}));
}

TEST_F(ShardCacheTest, AHoleIsNoTable) {
  EXPECT_TRUE(write_shard(folder_, "t", part(5000, {0, 2000})));
  EXPECT_TRUE(write_shard(folder_, "t", part(5000, {2001, 5000})));
  EXPECT_FALSE(read_shards(folder_, "t", alone()));
  EXPECT_TRUE(write_shard(folder_, "t", part(5000, {2000, 2001})));
  expect_read(folder_, "t", part(5000, {0, 5000}));
}

TEST_F(ShardCacheTest, TheLastShardOfAFirstRowCounts) {
  EXPECT_TRUE(write_shard(folder_, "t", part(100, {0, 100}, 1)));
  EXPECT_TRUE(write_shard(folder_, "t", part(100, {0, 100}, 2)));
  expect_read(folder_, "t", part(100, {0, 100}, 2));
}

TEST_F(ShardCacheTest, NoRowsAreATableToo) {
  EXPECT_TRUE(write_shard(folder_, "none", part(0, {0, 0})));
  expect_read(folder_, "none", part(0, {0, 0}));
  EXPECT_TRUE(write_shard(folder_, "not-mine", part(9, {9, 9})));
  EXPECT_FALSE(read_shards(folder_, "not-mine", alone()));
}

TEST_F(ShardCacheTest, NamesDoNotMeet) {
  EXPECT_TRUE(write_shard(folder_, "t", part(10, {0, 10}, 1)));
  EXPECT_TRUE(write_shard(folder_, "t.0", part(20, {0, 20}, 2)));
  EXPECT_TRUE(write_shard(folder_, "tt", part(30, {0, 30}, 3)));
  std::ofstream(folder_ / "t.1.shard.tmp") << "half";
  expect_read(folder_, "t", part(10, {0, 10}, 1));
  remove_shards(folder_, "t");
  EXPECT_FALSE(read_shards(folder_, "t", alone()));
  expect_read(folder_, "t.0", part(20, {0, 20}, 2));
  expect_read(folder_, "tt", part(30, {0, 30}, 3));
}

TEST_F(ShardCacheTest, ShardsOfDifferentTablesAreNone) {
  EXPECT_TRUE(write_shard(folder_, "t", part(3000, {0, 3000})));
  EXPECT_TRUE(write_shard(folder_, "t", part(3001, {2000, 3001})));
  EXPECT_FALSE(read_shards(folder_, "t", alone()));
}

TEST_F(ShardCacheTest, NoBitMayChangeAndNoByteBeMissing) {
  const table::Table table = part(40, {0, 40});
  EXPECT_TRUE(write_shard(folder_, "t", table));
  const fs::path path = folder_ / "t.0.shard";
  const std::string whole = file_text(path);
  const auto write = [&](const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; };
  std::size_t n_zeros = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string altered = whole;
    altered[i] ^= static_cast<char>(1 << i % 8);
    write(altered);
    const auto read = read_shards(folder_, "t", alone());
    if (read) {  // the zeros between columns mean nothing
      EXPECT_EQ(whole[i], '\0');
      EXPECT_EQ(table_bits(*read), table_bits(table));
      ++n_zeros;
    }
  }
  EXPECT_LT(n_zeros, 64 * 6);
  for (std::size_t n = 0; n < whole.size(); ++n) {
    write(whole.substr(0, n));
    EXPECT_FALSE(read_shards(folder_, "t", alone())) << n;
  }
  write(whole + '\0');
  EXPECT_FALSE(read_shards(folder_, "t", alone()));
  write(whole);
  expect_read(folder_, "t", table);
}

TEST_F(ShardCacheTest, OnlyWhatIsReadIsChecked) {
  const std::uint64_t n = 3 * ShardHeader::kChunkRows;
  EXPECT_TRUE(write_shard(folder_, "t", part(n, {0, n})));
  const fs::path path = folder_ / "t.0.shard";
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(-1, std::ios::end).put('x');
  const auto shard = ShardFile::open(path);
  ASSERT_TRUE(shard);
  std::vector<float> values(ShardHeader::kChunkRows);
  EXPECT_TRUE(shard->read(4, {1000, 1000 + values.size()}, values));
  EXPECT_FALSE(shard->read(4, {n - 10, n}, std::span(values).first(10)));
  EXPECT_FALSE(read_shards(folder_, "t", alone()));
}

TEST_F(ShardCacheTest, NoRoomIsReportedAndLeavesNothing) {
  struct rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit little = {10000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &little);
  const bool is_written = write_shard(folder_, "t", part(100000, {0, 100000}));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_FALSE(is_written);
  EXPECT_TRUE(fs::is_empty(folder_));
  std::ofstream(temporary_.path() / "file") << "no folder";
  EXPECT_FALSE(write_shard(temporary_.path() / "file", "t", part(1, {0, 1})));
  EXPECT_FALSE(read_shards(temporary_.path() / "file", "t", alone()));
}

TEST_F(ShardCacheTest, NamesThatAreNoFileNamesAreRefused) {
  for (const std::string name : {"", ".", ".t", "a/b", "a b", "ä", "..", "a\n"}) {
    EXPECT_THROW(write_shard(folder_, name, part(1, {0, 1})), InputError) << name;
    EXPECT_THROW(read_shards(folder_, name, alone()), InputError) << name;
    EXPECT_THROW(remove_shards(folder_, name), InputError) << name;
  }
  EXPECT_THROW(write_shard(folder_, std::string(101, 'x'), part(1, {0, 1})), InputError);
}

}  // namespace
}  // namespace podere::io
