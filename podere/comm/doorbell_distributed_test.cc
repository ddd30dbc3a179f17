#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>

#include "podere/comm/communicator.h"
#include "podere/comm/doorbell.h"

namespace podere::comm {
namespace {

using std::chrono::microseconds;

constexpr microseconds kFarTooLong(60'000'000);

TEST(DoorbellTest, IsHeardByAllRanksOfAMachine) { EXPECT_TRUE(hears_all_ranks()); }

TEST(DoorbellTest, WakesAllWhoSleepOrAreAboutTo) {
  if (Communicator::world().is_root()) {
    MPI_Barrier(MPI_COMM_WORLD);
    ring_doorbells();
  } else {
    Doorbell bell;
    bell.arm();
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_TRUE(bell.sleep(kFarTooLong));
    EXPECT_FALSE(bell.is_armed());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(DoorbellTest, SleepEndsWithoutARing) {
  Doorbell bell;
  bell.arm();
  EXPECT_FALSE(bell.sleep(microseconds(1)));
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(DoorbellTest, IsNotRungForAnEarlierWait) {
  {
    Doorbell given_up;
    given_up.arm();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  ring_doorbells();
  MPI_Barrier(MPI_COMM_WORLD);
  Doorbell bell;
  bell.arm();
  EXPECT_FALSE(bell.sleep(microseconds(1)));
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
}  // namespace podere::comm
