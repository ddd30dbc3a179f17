#include "podere/neural/batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "podere/neural/network.h"

namespace podere::neural {
namespace {

std::vector<Tile> tiles_of(const Batches& batches, std::uint64_t seed, std::uint64_t epoch) {
  TileOrder order(batches, seed, epoch);
  std::vector<Tile> tiles;
  for (std::size_t i = 0; i < batches.n_tiles(); ++i) tiles.push_back(order.next());
  return tiles;
}

TEST(BatchesTest, ABatchIsOfWholeTilesThatHoldAtLeastAsManyRows) {
  for (const std::size_t batch_size : {1, 2, 63, 64, 65, 100, 127, 200, 1000, 1024, 3200}) {
    const Batches batches({1024, 1024, 17}, batch_size);
    EXPECT_LE(batches.tile_rows(), kTileRows);
    const std::size_t rows = batches.tile_rows() * batches.tiles_per_batch();
    EXPECT_GE(rows, batch_size);
    EXPECT_LT(rows, batch_size + batches.tiles_per_batch());
  }
  EXPECT_EQ(Batches({1024}, 3200).tile_rows(), 64U);
  EXPECT_EQ(Batches({1024}, 3200).tiles_per_batch(), 50U);
}

TEST(BatchesTest, AllRowsMayBeOneBatch) {
  const Batches batches({1024, 1000, 5});
  EXPECT_EQ(batches.n_rows(), 2029U);
  EXPECT_EQ(batches.n_tiles(), 16U + 16U + 1U);
  EXPECT_EQ(batches.n_steps(), 1U);
}

TEST(TileOrderTest, AnEpochTakesEveryRowOnce) {
  for (const std::vector<std::uint16_t>& block_rows :
       {std::vector<std::uint16_t>{1024, 1024, 1024, 300}, {7}, {1024, 0, 512, 0, 1}, {}}) {
    for (const std::size_t batch_size : {10, 64, 150}) {
      const Batches batches(block_rows, batch_size);
      std::set<std::pair<std::size_t, std::size_t>> seen;
      for (const Tile& tile : tiles_of(batches, 1, 2)) {
        for (std::size_t i = 0; i < tile.n; ++i) {
          ASSERT_LT(tile.first + i, block_rows.at(tile.block));
          ASSERT_TRUE(seen.emplace(tile.block, tile.first + i).second);
        }
      }
      EXPECT_EQ(seen.size(), std::accumulate(block_rows.begin(), block_rows.end(), std::size_t{0}));
    }
  }
}

TEST(TileOrderTest, EpochsAndSeedsDiffer) {
  const Batches batches(std::vector<std::uint16_t>(50, 1024), 640);
  const auto blocks = [&](std::uint64_t seed, std::uint64_t epoch) {
    std::vector<std::size_t> all;
    for (const Tile& tile : tiles_of(batches, seed, epoch)) all.push_back(tile.block);
    return all;
  };
  EXPECT_EQ(blocks(1, 0), blocks(1, 0));
  EXPECT_NE(blocks(1, 0), blocks(1, 1));
  EXPECT_NE(blocks(1, 0), blocks(2, 0));
}

TEST(TileOrderTest, EveryBatchIsSharedEvenlyByExecutors) {
  constexpr std::size_t kBlocks = 977;  // a million rows
  const Batches batches(std::vector<std::uint16_t>(kBlocks, 1024), 3200);
  const std::vector<Tile> tiles = tiles_of(batches, 5, 1);
  for (const std::size_t n_ranks : {2, 3, 5, 8}) {
    for (std::size_t first = 0; first + 50 <= tiles.size(); first += 50) {
      std::vector<double> share(n_ranks, 0.0);
      for (std::size_t i = first; i < first + 50; ++i) ++share[tiles[i].block * n_ranks / kBlocks];
      const double even = 50.0 / static_cast<double>(n_ranks);
      EXPECT_LE(*std::ranges::max_element(share), even + 4) << n_ranks << " ranks, tile " << first;
    }
  }
}

TEST(TileOrderTest, SkippingIsAsTakingThem) {
  const Batches batches({1024, 1024, 300}, 64);
  TileOrder walked(batches, 1, 0);
  TileOrder skipped(batches, 1, 0);
  for (int i = 0; i < 20; ++i) walked.next();
  skipped.skip(20);
  EXPECT_EQ(walked.next().block, skipped.next().block);
  EXPECT_EQ(walked.next().first, skipped.next().first);
}

TEST(ShuffleRowsTest, IsAPermutationThatDependsOnSeedEpochAndBlock) {
  std::vector<std::uint16_t> in_order(1024);
  std::iota(in_order.begin(), in_order.end(), std::uint16_t{0});
  const auto shuffled = [&](std::uint64_t seed, std::uint64_t epoch, std::size_t block) {
    std::vector<std::uint16_t> rows = in_order;
    shuffle_rows(seed, epoch, block, rows);
    return rows;
  };
  const auto a = shuffled(1, 2, 3);
  EXPECT_EQ(a, shuffled(1, 2, 3));
  for (const auto& b : {shuffled(0, 2, 3), shuffled(1, 0, 3), shuffled(1, 2, 0)}) EXPECT_NE(a, b);
  auto sorted = a;
  std::ranges::sort(sorted);
  EXPECT_EQ(sorted, in_order);
}

TEST(ShuffleRowsTest, EveryRowComesToEveryPlaceAsOften) {
  constexpr int kTimes = 6000;
  std::vector<std::vector<int>> counts(6, std::vector<int>(6, 0));
  for (int t = 0; t < kTimes; ++t) {
    std::vector<std::uint16_t> rows = {0, 1, 2, 3, 4, 5};
    shuffle_rows(9, static_cast<std::uint64_t>(t), 0, rows);
    for (std::size_t i = 0; i < 6; ++i) ++counts[i][rows[i]];
  }
  for (const auto& row : counts) {
    for (const int count : row) EXPECT_NEAR(count, kTimes / 6, 5 * 29);  // sigma is 29
  }
}

}  // namespace
}  // namespace podere::neural
