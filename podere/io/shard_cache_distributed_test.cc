#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <limits>
#include <optional>

#include "podere/base/hash.h"
#include "podere/base/temporary_folder.h"
#include "podere/io/csv_reference.h"
#include "podere/io/shard_cache.h"

namespace podere::io {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kRows = 70 * table::kBlockRows + 17;

const comm::Communicator& world() {
  static const auto group = comm::Communicator::world();
  return group;
}

/// A folder that rank 0 makes and all ranks see.
class SharedFolder {
 public:
  SharedFolder() {
    if (world().is_root()) folder_.emplace(fs::temp_directory_path());
    path_ = world().broadcast_text(folder_ ? folder_->path().string() : "");
  }
  ~SharedFolder() { world().barrier(); }
  const fs::path& path() const { return path_; }

 private:
  std::optional<TemporaryFolder> folder_;
  fs::path path_;
};

table::Table part(std::uint64_t n, table::RowRange rows) {
  table::Table table({.features = {"a", "b"}, .label = "y", .categories = {{1, {{"red", "white"}}}}}, n, rows);
  for (std::size_t j = 0; j < table.n_columns(); ++j) {
    for (std::size_t i = 0; i < table.n_rows(); ++i) {
      const std::uint64_t bits = hash64(4, j, rows.begin + i);
      table.column(j)[i] = bits % 9 == 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(bits % 1000);
    }
  }
  return table;
}

table::RowRange mine(std::uint64_t n) { return table::rows_of(n, world().rank(), world().size()); }

/// What a group of `n_ranks` leaves in one folder.
void write_as(int n_ranks, const fs::path& folder, std::uint64_t n = kRows) {
  for (int rank = 0; rank < n_ranks && world().is_root(); ++rank) {
    EXPECT_TRUE(write_shard(folder, "t", part(n, table::rows_of(n, rank, n_ranks))));
  }
  world().barrier();
}

void expect_read(const fs::path& folder, std::uint64_t n = kRows) {
  for (const int n_threads : {1, 2}) {
    const auto table = read_shards(folder, "t", world(), n_threads);
    ASSERT_TRUE(table);
    EXPECT_EQ(table->rows(), mine(n));
    EXPECT_EQ(table->schema(), part(n, mine(n)).schema());
    EXPECT_EQ(table_bits(*table), table_bits(part(n, mine(n))));
  }
  world().barrier();
}

TEST(ShardCacheDistributed, AnyNumberOfRanksReadsWhatAnyNumberWrote) {
  for (const int n_writers : {1, 2, 3, 5, 8}) {
    const SharedFolder folder;
    write_as(n_writers, folder.path());
    expect_read(folder.path());
  }
}

TEST(ShardCacheDistributed, ShardsOfSeveralGroupsAreRead) {
  const SharedFolder folder;
  for (const int n_writers : {5, 2, 3}) write_as(n_writers, folder.path());
  expect_read(folder.path());
}

TEST(ShardCacheDistributed, RanksMayHaveNoRows) {
  for (const std::uint64_t n : {0ULL, 1ULL, 1500ULL}) {
    const SharedFolder folder;
    EXPECT_TRUE(write_shard(folder.path(), "t", part(n, mine(n))));
    world().barrier();
    expect_read(folder.path(), n);
  }
}

TEST(ShardCacheDistributed, EachRankMayHaveAFolderOfItsOwn) {
  const TemporaryFolder folder(fs::temp_directory_path());
  EXPECT_TRUE(write_shard(folder.path(), "t", part(kRows, mine(kRows))));
  expect_read(folder.path());
  expect_read(folder.path());
  const TemporaryFolder small(fs::temp_directory_path());  // all ranks but the first have neither rows nor shards
  EXPECT_TRUE(write_shard(small.path(), "t", part(10, mine(10))));
  expect_read(small.path(), 10);
}

TEST(ShardCacheDistributed, ARowThatOneRankLacksIsNoTableOnAnyRank) {
  const TemporaryFolder folder(fs::temp_directory_path());
  EXPECT_FALSE(read_shards(folder.path(), "t", world()));
  table::RowRange held = mine(kRows);
  if (world().rank() == world().size() - 1) --held.end;
  EXPECT_TRUE(write_shard(folder.path(), "t", part(kRows, held)));
  EXPECT_FALSE(read_shards(folder.path(), "t", world()));
}

TEST(ShardCacheDistributed, DamageThatOneRankSeesIsNoTableOnAnyRank) {
  for (const std::streamoff place : {-1, 20}) {  // in the last values, in the header
    const TemporaryFolder folder(fs::temp_directory_path());
    const table::RowRange held = mine(kRows);
    EXPECT_TRUE(write_shard(folder.path(), "t", part(kRows, held)));
    if (world().rank() == world().size() - 1) {
      const fs::path path = folder.path() / ("t." + std::to_string(held.begin) + ".shard");
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      // The last column ends with zeros that mean nothing.
      const auto padding = static_cast<std::streamoff>((64 - held.size() * sizeof(float) % 64) % 64);
      file.seekp(place < 0 ? place - padding : place, place < 0 ? std::ios::end : std::ios::beg);
      file.put('\x55');
    }
    EXPECT_FALSE(read_shards(folder.path(), "t", world()));
  }
}

TEST(ShardCacheDistributed, ShardsOfAnotherTableOnOneRankAreNoTable) {
  if (world().size() == 1) GTEST_SKIP() << "one rank sees one table";
  const TemporaryFolder folder(fs::temp_directory_path());
  const std::uint64_t n = world().rank() == 1 ? kRows + 1 : kRows;
  EXPECT_TRUE(write_shard(folder.path(), "t", part(n, {0, n})));
  EXPECT_FALSE(read_shards(folder.path(), "t", world()));
}

}  // namespace
}  // namespace podere::io
