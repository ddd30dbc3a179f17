#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "podere/base/error.h"
#include "podere/table/split.h"
#include "podere/table/test_partitions.h"

namespace podere::table {
namespace {

const comm::Communicator& everyone() {
  static const auto group = comm::Communicator::world();
  return group;
}

TEST(SplitDistributed, PartsAreTheSameOnAnyNumberOfRanksAndThreads) {
  for (const std::uint64_t n : {0ULL, 1ULL, 20000ULL}) {
    const auto [first, second] = split(uneven_partition(n, 0, 1), 0.7, 7, comm::Communicator::self(), 1);
    EXPECT_EQ(first.n_rows() + second.n_rows(), n);
    const Table mine = uneven_partition(n, everyone().rank(), everyone().size());
    for (const int n_threads : {1, 3}) {
      const auto parts = split(mine, 0.7, 7, everyone(), n_threads);
      EXPECT_EQ(parts.first.schema(), mine.schema());
      for (std::size_t j = 0; j < mine.n_columns(); ++j) {
        EXPECT_EQ(gathered_bits(parts.first, j, everyone()), gathered_bits(first, j, comm::Communicator::self()));
        EXPECT_EQ(gathered_bits(parts.second, j, everyone()), gathered_bits(second, j, comm::Communicator::self()));
      }
    }
  }
}

TEST(SplitDistributed, EveryRowIsInOnePartAndTheirOrderStays) {
  const std::uint64_t n = 50000;
  const RowRange rows = rows_of(n, everyone().rank(), everyone().size());
  Table table({.features = {"row"}}, n, rows);
  for (std::size_t i = 0; i < table.n_rows(); ++i) table.feature(0)[i] = static_cast<float>(rows.begin + i);
  for (const double fraction : {0.1, 0.5, 0.9}) {
    const auto [first, second] = split(table, fraction, 1, everyone(), 2);
    const auto in_first = everyone().all_gather_v<float>(first.feature(0));
    const auto in_second = everyone().all_gather_v<float>(second.feature(0));
    const double deviation = std::sqrt(static_cast<double>(n) * fraction * (1 - fraction));
    EXPECT_NEAR(static_cast<double>(in_first.size()), static_cast<double>(n) * fraction, 4 * deviation);
    EXPECT_TRUE(std::ranges::is_sorted(in_first));
    EXPECT_TRUE(std::ranges::is_sorted(in_second));
    std::vector<float> all(in_first);
    all.insert(all.end(), in_second.begin(), in_second.end());
    std::ranges::sort(all);
    ASSERT_EQ(all.size(), n);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(all[i], static_cast<float>(i));
  }
}

TEST(SplitDistributed, AnotherSeedGivesOtherParts) {
  const Table table = uneven_partition(1000, everyone().rank(), everyone().size());
  EXPECT_NE(gathered_bits(split(table, 0.5, 1, everyone(), 1).first, 0, everyone()),
            gathered_bits(split(table, 0.5, 2, everyone(), 1).first, 0, everyone()));
}

TEST(SplitDistributed, SharesThatAreNoneAreRefused) {
  const Table table = uneven_partition(10, everyone().rank(), everyone().size());
  for (const double fraction : {0.0, 1.0, -0.5, 1.5, std::nan(""), HUGE_VAL}) {
    EXPECT_THROW(split(table, fraction, 1, everyone(), 1), InputError) << fraction;
  }
}

}  // namespace
}  // namespace podere::table
