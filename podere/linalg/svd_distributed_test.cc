#include <gtest/gtest.h>

#include <cmath>

#include "podere/linalg/column_facts.h"
#include "podere/linalg/prepare.h"
#include "podere/linalg/products.h"
#include "podere/linalg/svd.h"
#include "podere/linalg/test_matrices.h"

namespace podere::linalg {
namespace {

/// Of 5 ranks the last have no rows.
TEST(SvdDistributed, BitsDoNotDependOnRanksAndThreads) {
  const auto world = comm::Communicator::world();
  const auto self = comm::Communicator::self();
  for (const std::uint64_t m : {40ULL, 3000ULL, 5500ULL}) {
    const TallMatrix whole = test_matrix(m, 70);
    const TallMatrix mine = test_matrix(m, 70, world.rank(), world.size());
    const ColumnRanges of_values = ranges(whole, {}, self, 1);
    EXPECT_EQ(ranges(mine, {}, world, 3), of_values);
    const Moments found_moments = moments(mine, of_values, Moments::Wanted::kAll, world, 3);
    ColumnMap centered = ColumnMap::identity(70);
    const Moments expected_moments = moments(whole, of_values, Moments::Wanted::kAll, self, 1);
    centered.shift = expected_moments.means;
    EXPECT_EQ(found_moments.means, centered.shift);
    EXPECT_EQ(found_moments.deviations, expected_moments.deviations);
    EXPECT_EQ(moments(mine, of_values, Moments::Wanted::kMeans, world, 2).means, centered.shift);
    const BoundedMap map = bounded(centered, of_values);
    for (const SvdMethod method : {SvdMethod::kGram, SvdMethod::kKrylov}) {
      const SvdOptions options{.rank = 6, .method = method};
      const Svd expected = svd(whole, map, options, self, 1);
      const TallMatrix u = left_vectors(whole, map, expected, 1);
      for (const int n_threads : {1, 3}) {
        const Svd found = svd(mine, map, options, world, n_threads);
        EXPECT_EQ(found.s, expected.s);
        EXPECT_EQ(found.v, expected.v);
        EXPECT_EQ(found.shares, expected.shares);
        EXPECT_EQ(found.residuals, expected.residuals);
        EXPECT_EQ(found.n_passes, expected.n_passes);
        const TallMatrix my_u = left_vectors(mine, map, found, n_threads);
        for (std::size_t i = 0; i < my_u.n_rows(); ++i) {
          const auto row = u.row(static_cast<std::size_t>(mine.rows().begin) + i);
          EXPECT_TRUE(std::ranges::equal(my_u.row(i), row)) << i;
        }
        EXPECT_EQ(orthogonality(my_u, world, n_threads), orthogonality(u, self, 1));
      }
    }
  }
}

TEST(SvdDistributed, MissingValuesAreFilledInWithTheSameBits) {
  const auto world = comm::Communicator::world();
  TallMatrix whole = test_matrix(5500, 9);
  TallMatrix mine = test_matrix(5500, 9, world.rank(), world.size());
  const auto lose = [](TallMatrix& a) {
    for (std::size_t i = 0; i < a.n_rows(); ++i) {
      for (std::size_t j = 0; j < 5; ++j) {
        if ((a.rows().begin + i) % (j + 3) == 0) a.row(i)[j] = NAN;
      }
    }
  };
  lose(whole);
  lose(mine);
  const std::vector<std::string> names(9, "a");
  const auto counts = fill_with_means(whole, names, comm::Communicator::self(), 1);
  EXPECT_EQ(counts, (std::vector<std::uint64_t>{1834, 1375, 1100, 917, 786, 0, 0, 0, 0}));
  EXPECT_EQ(fill_with_means(mine, names, world, 3), counts);
  for (std::size_t i = 0; i < mine.n_rows(); ++i) {
    EXPECT_TRUE(std::ranges::equal(mine.row(i), whole.row(static_cast<std::size_t>(mine.rows().begin) + i))) << i;
  }
}

TEST(SvdDistributed, AllRanksRefuseWhatOneHas) {
  const auto world = comm::Communicator::world();
  TallMatrix mine = test_matrix(5000, 3, world.rank(), world.size());
  for (std::size_t i = 0; i < mine.n_rows(); ++i) {
    if (mine.rows().begin + i >= 2222) mine.row(i)[1] = NAN;
  }
  try {
    ranges(mine, {}, world, 2);
    FAIL() << "was accepted";
  } catch (const NotFinite& error) {
    EXPECT_STREQ(error.what(), "row 2222, column 1: the value is missing or infinite");
  }
}

/// Which of them comes first depends on threads and ranks.
TEST(SvdDistributed, ZerosOfBothSignsHaveOneMean) {
  const auto world = comm::Communicator::world();
  TallMatrix mine = test_matrix(5500, 3, world.rank(), world.size());
  for (std::size_t i = 0; i < mine.n_rows(); ++i) mine.row(i)[1] = mine.rows().begin + i < 2048 ? 0.0 : -0.0;
  for (const int n_threads : {1, 3}) {
    const ColumnRanges of_values = ranges(mine, {}, world, n_threads);
    const double mean = moments(mine, of_values, Moments::Wanted::kMeans, world, n_threads).means[1];
    EXPECT_EQ(mean, 0);
    EXPECT_FALSE(std::signbit(mean) || std::signbit(of_values.least[1]) || std::signbit(of_values.largest[1]));
  }
}

}  // namespace
}  // namespace podere::linalg
