#include <gtest/gtest.h>

#include <cmath>

#include "podere/base/error.h"
#include "podere/linalg/qr.h"
#include "podere/linalg/test_matrices.h"

namespace podere::linalg {
namespace {

/// The last column is within 1e-9 of the span of two others.
TallMatrix nearly_dependent(std::uint64_t m, int rank, int n_ranks) {
  TallMatrix a = test_matrix(m, 33, rank, n_ranks);
  for (std::size_t i = 0; i < a.n_rows(); ++i) a.row(i)[32] = a.row(i)[0] + a.row(i)[7] + 1e-9 * a.row(i)[32];
  return a;
}

/// Of 5 ranks the last have no rows.
TEST(QrDistributed, BitsDoNotDependOnRanksAndThreads) {
  const auto world = comm::Communicator::world();
  const std::vector<std::string> names(33, "a");
  for (const auto make :
       {&nearly_dependent, +[](std::uint64_t m, int rank, int n) { return test_matrix(m, 33, rank, n); }}) {
    for (const std::uint64_t m : {40ULL, 5500ULL}) {
      TallMatrix whole = make(m, 0, 1);
      const Qr expected = qr(whole, names, WantedQ::kInPlace, comm::Communicator::self(), 1);
      EXPECT_EQ(expected.n_shifted > 0, make == &nearly_dependent);
      for (const int n_threads : {1, 3}) {
        TallMatrix mine = make(m, world.rank(), world.size());
        const Qr found = qr(mine, names, WantedQ::kInPlace, world, n_threads);
        EXPECT_EQ(found.r, expected.r);
        EXPECT_EQ(found.residuals, expected.residuals);
        EXPECT_EQ(found.n_passes, expected.n_passes);
        for (std::size_t i = 0; i < mine.n_rows(); ++i) {
          const auto row = whole.row(static_cast<std::size_t>(mine.rows().begin) + i);
          EXPECT_TRUE(std::ranges::equal(mine.row(i), row)) << i;
        }
      }
    }
  }
}

TEST(QrDistributed, AllRanksRefuseDependentColumns) {
  const auto world = comm::Communicator::world();
  TallMatrix mine = test_matrix(3000, 3, world.rank(), world.size());
  for (std::size_t i = 0; i < mine.n_rows(); ++i) mine.row(i)[2] = mine.row(i)[0] - mine.row(i)[1];
  EXPECT_THROW(qr(mine, {"a", "b", "c"}, WantedQ::kInPlace, world, 2), InputError);
}

}  // namespace
}  // namespace podere::linalg
