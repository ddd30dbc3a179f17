#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include "podere/base/error.h"
#include "podere/comm/hand_out.h"

namespace podere::comm {
namespace {

using std::chrono::milliseconds;

bool never_ends(std::size_t /*n_done*/) { return true; }

/// How often each task was done, over all ranks.
std::vector<std::int32_t> sum_over_ranks(const Communicator& world, std::span<const std::atomic<std::int32_t>> counts) {
  std::vector<std::int32_t> all(counts.begin(), counts.end());
  world.all_reduce(std::span(all), Reduction::kSum);
  return all;
}

TEST(HandOutTest, EachTaskIsDoneOnce) {
  const Communicator world = Communicator::world();
  for (const int n_threads : {1, 3}) {
    for (const std::size_t n_tasks : {0U, 1U, 2U, 7U, 1000U}) {
      std::vector<std::atomic<std::int32_t>> counts(n_tasks);
      std::vector<std::atomic<std::int32_t>> at_work(static_cast<std::size_t>(n_threads));
      const auto work = [&](std::size_t task, int thread) {
        EXPECT_EQ(++at_work.at(static_cast<std::size_t>(thread)), 1) << "two tasks at once on a thread";
        ++counts.at(task);
        --at_work[static_cast<std::size_t>(thread)];
      };
      EXPECT_EQ(hand_out(world, n_tasks, n_threads, {work, never_ends}), n_tasks);
      EXPECT_EQ(sum_over_ranks(world, counts), std::vector<std::int32_t>(n_tasks, 1));
    }
  }
}

TEST(HandOutTest, RanksWithMoreTimeDoMore) {
  const Communicator world = Communicator::world();
  if (world.size() < 2) GTEST_SKIP() << "needs two ranks";
  std::atomic<std::int64_t> n_done = 0;
  const bool is_slow = world.rank() == 1;
  const auto work = [&](std::size_t /*task*/, int /*thread*/) {
    std::this_thread::sleep_for(milliseconds(is_slow ? 100 : 1));
    ++n_done;
  };
  hand_out(world, 200, 1, {work, never_ends});
  const std::vector<std::int64_t> of_each = world.all_gather(n_done.load());
  EXPECT_LT(of_each[1] * 2, of_each[0]);
}

TEST(HandOutTest, WatchSeesWhatIsDoneAndCanEndIt) {
  const Communicator world = Communicator::world();
  std::size_t last = 0;
  bool was_called = false;
  const auto work = [](std::size_t /*task*/, int /*thread*/) { std::this_thread::sleep_for(milliseconds(5)); };
  const auto watch = [&](std::size_t n_done) {
    EXPECT_GE(n_done, last);
    last = n_done;
    was_called = true;
    return n_done < 10;
  };
  constexpr std::size_t kTasks = 100000;  // minutes of work
  const std::size_t n_done = hand_out(world, kTasks, 2, {work, watch});
  EXPECT_GE(n_done, 10U);
  EXPECT_LT(n_done, kTasks);
  EXPECT_EQ(was_called, world.is_root());
  EXPECT_EQ(last, world.is_root() ? n_done : 0);
}

TEST(HandOutTest, AFailureEndsTheWorkOnAllRanks) {
  const Communicator world = Communicator::world();
  for (int failing = 0; failing < world.size(); ++failing) {
    const auto work = [&](std::size_t task, int /*thread*/) {
      if (world.rank() == failing) throw_input_error("task {} cannot be done", task);
      std::this_thread::sleep_for(milliseconds(1));
    };
    EXPECT_THROW(hand_out(world, 100000, 2, {work, never_ends}), InputError);
  }
}

}  // namespace
}  // namespace podere::comm
