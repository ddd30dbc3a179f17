#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/comm/messages.h"
#include "podere/comm/wake_up.h"

namespace podere::comm {
namespace {

using std::chrono::microseconds;

constexpr microseconds kFarTooLong(60'000'000);

TEST(WakeUpTest, ReachesAllRanksOfAMachine) { EXPECT_TRUE(can_all_be_woken()); }

TEST(WakeUpTest, WakesAllWhoSleepOrAreAboutTo) {
  if (Communicator::world().is_root()) {
    MPI_Barrier(MPI_COMM_WORLD);
    wake_others();
  } else {
    WakeUp wake_up;
    wake_up.arm();
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_TRUE(wake_up.sleep(kFarTooLong));
    EXPECT_FALSE(wake_up.is_armed());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(WakeUpTest, SleepEndsWithoutAWakeUp) {
  WakeUp wake_up;
  wake_up.arm();
  EXPECT_FALSE(wake_up.sleep(microseconds(1)));
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(WakeUpTest, AnEarlierWaitWakesNoLaterOne) {
  {
    WakeUp given_up;
    given_up.arm();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  wake_others();
  MPI_Barrier(MPI_COMM_WORLD);
  WakeUp wake_up;
  wake_up.arm();
  EXPECT_FALSE(wake_up.sleep(microseconds(1)));
  MPI_Barrier(MPI_COMM_WORLD);
}

/// How often this process has left its processor of its own accord.
long n_sleeps_so_far() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nvcsw;
}

TEST(WakeUpTest, RanksThatWaitForAnotherDoNotWakeEachOther) {
  const Communicator world = Communicator::world();
  for (const std::size_t n : {1, 4000}) {  // in one go, and in pieces
    std::vector<std::int64_t> values(n, 1);
    world.barrier();
    const long n_before = n_sleeps_so_far();
    if (world.is_root()) std::this_thread::sleep_for(std::chrono::milliseconds(500));
    world.all_reduce(std::span(values), Reduction::kSum);
    EXPECT_LT(n_sleeps_so_far() - n_before, 1500);  // in a circle they are more than 10,000
    EXPECT_EQ(values, std::vector<std::int64_t>(n, world.size()));
  }
}

TEST(WakeUpTest, ALongMessageReachesARankThatSleeps) {
  const Communicator world = Communicator::world();
  if (world.size() == 1) return;
  const Messages messages(world);
  constexpr std::size_t kBytes = 3 << 20;
  std::vector<std::byte> bytes(kBytes, world.is_root() ? std::byte{7} : std::byte{0});
  if (world.is_root()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    for (int to = 1; to < world.size(); ++to) messages.start_send(bytes, to).wait();
  } else {
    std::vector<Transfer> transfers;
    transfers.push_back(messages.start_receive(bytes, 0));
    EXPECT_EQ(Messages::await_any(transfers), 0U);
    EXPECT_EQ(bytes, std::vector<std::byte>(kBytes, std::byte{7}));
  }
  world.barrier();
}

}  // namespace
}  // namespace podere::comm
