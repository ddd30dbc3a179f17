#include <gtest/gtest.h>

#include "podere/linalg/covariance.h"
#include "podere/linalg/test_matrices.h"

namespace podere::linalg {
namespace {

/// Of 5 ranks the last have no rows.
TEST(CovarianceDistributed, BitsDoNotDependOnRanksAndThreads) {
  const auto world = comm::Communicator::world();
  const std::vector<std::string> names(70, "a");
  for (const std::uint64_t m : {40ULL, 5500ULL}) {
    const Covariance expected = covariance(test_matrix(m, 70), names, comm::Communicator::self(), 1);
    for (const int n_threads : {1, 3}) {
      const TallMatrix mine = test_matrix(m, 70, world.rank(), world.size());
      const Covariance found = covariance(mine, names, world, n_threads);
      EXPECT_EQ(found.means, expected.means);
      EXPECT_EQ(found.deviations, expected.deviations);
      EXPECT_EQ(found.correlations, expected.correlations);
    }
  }
}

}  // namespace
}  // namespace podere::linalg
