#include "podere/table/permute.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "podere/base/error.h"
#include "podere/base/hash.h"

namespace podere::table {
namespace {

std::vector<std::uint64_t> images(std::uint64_t n, std::uint64_t key) {
  const Permutation permutation(n, key);
  std::vector<std::uint64_t> result;
  for (std::uint64_t i = 0; i < n; ++i) result.push_back(permutation(i));
  return result;
}

TEST(Permutation, TakesEveryNumberOnce) {
  for (const std::uint64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 1000, 1023, 1025, 30000}) {
    for (const std::uint64_t key : {0, 1, 2}) {
      std::vector<bool> is_used(n);
      for (const std::uint64_t image : images(n, key)) {
        ASSERT_LT(image, n);
        ASSERT_FALSE(is_used[image]) << image << " of " << n;
        is_used[image] = true;
      }
    }
  }
}

TEST(Permutation, ReachesAllOrdersOfFourAboutEquallyOften) {
  constexpr int kKeys = 24000;
  std::map<std::vector<std::uint64_t>, int> counts;
  for (int key = 0; key < kKeys; ++key) ++counts[images(4, hash64(1, 0, static_cast<std::uint64_t>(key)))];
  EXPECT_EQ(counts.size(), 24U);
  double chi_square = 0;
  constexpr double expected = kKeys / 24.0;
  for (const auto& [order, count] : counts) chi_square += (count - expected) * (count - expected) / expected;
  EXPECT_LT(chi_square, 23 + 5 * std::sqrt(2 * 23.0));
}

TEST(Permutation, SendsEachRowAnywhereWithEqualChance) {
  for (const std::uint64_t n : {5, 12, 40}) {
    constexpr int kKeys = 20000;
    std::vector<int> counts(n * n);
    for (int key = 0; key < kKeys; ++key) {
      const Permutation permutation(n, hash64(2, 0, static_cast<std::uint64_t>(key)));
      for (std::uint64_t i = 0; i < n; ++i) ++counts[i * n + permutation(i)];
    }
    const double expected = static_cast<double>(kKeys) / static_cast<double>(n);
    double chi_square = 0;
    for (const int count : counts) chi_square += (count - expected) * (count - expected) / expected;
    const double freedom = static_cast<double>((n - 1) * (n - 1));
    EXPECT_LT(chi_square, freedom + 5 * std::sqrt(2 * freedom)) << n;
  }
}

TEST(Permutation, OfNoRowsIsRefused) {
  EXPECT_THROW(Permutation(0, 1), InputError);
  EXPECT_NO_THROW(Permutation(std::uint64_t{1} << 62, 1));
}

}  // namespace
}  // namespace podere::table
