#include "podere/base/huge_array.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>

namespace podere {
namespace {

/// In RAM now, in bytes.
std::int64_t memory_now() {
  std::ifstream status("/proc/self/status");
  std::string name;
  std::int64_t kilobytes = 0;
  while (status >> name) {
    if (name == "VmRSS:" && status >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

constexpr std::size_t kMany = std::size_t{1} << 24;
constexpr std::int64_t kSlack = 4 << 20;  // of pages that are shared with neighbors, and of what a test itself holds

TEST(HugeArray, HoldsItsValuesAtAnySize) {
  for (const std::size_t size : {0UL, 1UL, 1000UL, 524'272UL, 524'273UL, 524'288UL, 2'000'001UL}) {
    HugeArray<std::uint32_t> array(size);
    ASSERT_EQ(array.size(), size);
    for (std::size_t i = 0; i < size; ++i) array[i] = static_cast<std::uint32_t>(7 * i);
    const HugeArray<std::uint32_t> moved = std::move(array);
    std::size_t n_wrong = 0;
    for (std::size_t i = 0; i < size; ++i) n_wrong += moved[i] == static_cast<std::uint32_t>(7 * i) ? 0 : 1;
    EXPECT_EQ(n_wrong, 0U) << size;
  }
}

TEST(HugeArray, BeginsAtAHugePageIfLarge) {
  const HugeArray<char> array(3'000'000);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.data()) % (1 << 21), 0U);
}

TEST(HugeArray, LeavesNothingBehind) {
  const std::int64_t before = memory_now();
  for (int i = 0; i < 4; ++i) {
    HugeArray<std::uint8_t> array(kMany);
    std::ranges::fill(array.span(), std::uint8_t{1});
    EXPECT_GT(memory_now(), before + static_cast<std::int64_t>(kMany) - kSlack);
  }
  EXPECT_LT(memory_now(), before + kSlack);
}

TEST(HugeArray, ReleasesWhatLiesBetween) {
  HugeArray<std::uint8_t> array(kMany);
  std::ranges::fill(array.span(), std::uint8_t{1});
  const std::int64_t full = memory_now();
  constexpr std::size_t kBegin = 100'000;
  constexpr std::size_t kEnd = kMany - 300'000;
  array.release(kBegin, kEnd);
  EXPECT_LT(memory_now(), full - static_cast<std::int64_t>(kEnd - kBegin) + kSlack);
  EXPECT_EQ(std::ranges::count(array.span().first(kBegin), 1), std::ptrdiff_t{kBegin});
  EXPECT_EQ(std::ranges::count(array.span().subspan(kEnd), 1), std::ptrdiff_t{kMany - kEnd});
}

TEST(HugeArray, KeepsWhatIsNotAWholePage) {
  for (const std::size_t size : {100UL, kMany}) {
    HugeArray<std::uint8_t> array(size);
    std::ranges::fill(array.span(), std::uint8_t{1});
    array.release(10, 10);
    array.release(10, 20);
    array.release(0, 100);
    EXPECT_EQ(std::ranges::count(array.span(), 1), static_cast<std::ptrdiff_t>(size));
  }
}

}  // namespace
}  // namespace podere
