#include "podere/evaluate/sample_sort.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "podere/base/hash.h"

namespace podere::evaluate {
namespace {

TEST(RadixSort, SortsByTheUpperHalfAndKeepsTheOrderOfEqualKeys) {
  for (const std::size_t n : {0UL, 1UL, 2UL, 3UL, 1000UL, 70001UL}) {
    for (const std::uint64_t mask : {0ULL, 0x3ULL, 0xffe00000ULL, 0x7ffULL, 0xffffffffULL}) {
      std::vector<Record> records;
      for (std::size_t i = 0; i < n; ++i) records.push_back((hash64(1, 2, i) & mask) << 32 | (n - i));
      std::vector<Record> expected = records;
      std::ranges::stable_sort(expected, {}, key_of);
      radix_sort(records);
      EXPECT_EQ(records, expected);
    }
  }
}

}  // namespace
}  // namespace podere::evaluate
