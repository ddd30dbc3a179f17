#include "podere/tune/sobol_sequence.h"

#include <gtest/gtest.h>

#include <set>

namespace podere::tune {
namespace {

TEST(SobolSequence, BeginsWithThePublishedPoints) {
  const SobolSequence sequence(6);
  // The first points that Joe and Kuo's program prints, times 8.
  constexpr int kEighths[6][6] = {{0, 0, 0, 0, 0, 0}, {4, 4, 4, 4, 4, 4}, {6, 2, 2, 2, 6, 6},
                                  {2, 6, 6, 6, 2, 2}, {3, 3, 5, 7, 3, 1}, {7, 7, 1, 3, 7, 5}};
  for (std::size_t i = 0; i < 6; ++i) {
    const std::vector<std::uint64_t> point = sequence.point(i);
    ASSERT_EQ(point.size(), 6U);
    for (std::size_t d = 0; d < 6; ++d) EXPECT_EQ(point[d], std::uint64_t(kEighths[i][d]) << 61) << i << " " << d;
  }
}

TEST(SobolSequence, HasThePointsOfScipyInAllDimensions) {
  const SobolSequence sequence(SobolSequence::kMostDimensions);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < 1024; ++i) {
    for (const std::uint64_t coordinate : sequence.point(i)) sum = (sum * 31 + (coordinate >> 54)) % 1000003;
  }
  EXPECT_EQ(sum, 554878U) << "of scipy.stats.qmc.Sobol(40, scramble=False, bits=30).random(1024)";
  EXPECT_EQ(sequence.point(777)[20] >> 54, 243U);
}

TEST(SobolSequence, HasOnePointInEachSlice) {
  const SobolSequence sequence(SobolSequence::kMostDimensions);
  for (std::size_t d = 0; d < SobolSequence::kMostDimensions; ++d) {
    std::set<std::uint64_t> slices;
    for (std::size_t i = 256; i < 512; ++i) slices.insert(sequence.point(i)[d] >> 56);
    EXPECT_EQ(slices.size(), 256U) << d;
  }
}

}  // namespace
}  // namespace podere::tune
