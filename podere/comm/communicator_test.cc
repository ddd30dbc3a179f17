// The group of one, which needs no MPI: what every member function does in a process that has not started it.
#include "podere/comm/communicator.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace podere::comm {
namespace {

using Values = std::vector<std::int64_t>;

/// What came of each collective, by its name.
std::vector<std::pair<std::string, bool>> use_alone() {
  const Communicator alone = Communicator::self();
  const Values given{3, 1, 4};
  const std::vector<std::size_t> counts{given.size()};
  std::vector<std::pair<std::string, bool>> results;
  const auto note = [&](const char* name, bool is_right) { results.emplace_back(name, is_right); };

  note("rank", alone.rank() == 0 && alone.size() == 1 && alone.is_root());
  alone.barrier();
  Values values = given;
  alone.broadcast(std::span(values));
  note("broadcast", values == given);
  note("broadcast_text", alone.broadcast_text("text") == "text");
  alone.all_reduce(std::span(values), Reduction::kSum);
  note("all_reduce", values == given);
  Values received(given.size());
  alone.reduce_scatter(std::span<const std::int64_t>(given), std::span(received), counts, Reduction::kMax);
  note("reduce_scatter", received == given);
  note("all_gather", alone.all_gather(std::span<const std::int64_t>(given)) == given);
  note("all_gather_v", alone.all_gather_v(std::span<const std::int64_t>(given)) == given);
  note("all_to_all", alone.all_to_all(std::span<const std::int64_t>(given)) == given);
  note("all_to_all_v", alone.all_to_all_v(std::span<const std::int64_t>(given), counts) == given);
  note("exclusive_scan", alone.exclusive_scan(std::int64_t{5}, Reduction::kSum, std::int64_t{-1}) == -1);
  note("start_all_reduce", alone.start_all_reduce(given, Reduction::kMin).wait() == given);
  note("start_reduce_scatter", alone.start_reduce_scatter(given, counts, Reduction::kSum).wait() == given);
  note("split", alone.split(1, 0).all_reduce(7, Reduction::kSum) == 7);
  alone.agree([] {});
  note("traffic", alone.traffic()[static_cast<std::size_t>(Collective::kBarrier)].calls == 1);
  return results;
}

/// Found before main() starts MPI, which ends a process that calls it earlier.
const auto before_mpi = use_alone();

TEST(GroupOfOneTest, DoesAllThatGroupsDoWithoutMpi) {
  EXPECT_EQ(before_mpi.size(), 14U);
  for (const auto& [name, is_right] : before_mpi) EXPECT_TRUE(is_right) << name;
}

TEST(GroupOfOneTest, DoesTheSameBesideMpi) { EXPECT_EQ(use_alone(), before_mpi); }

}  // namespace
}  // namespace podere::comm
