// A worker whose memory runs out in the middle of training.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>

#include "podere/base/error.h"
#include "podere/neural/test_training.h"

namespace {

/// Workers list the tiles of a batch, and those of them that are here. With these rows, batches and layers nothing else
/// in a round takes so much at once.
constexpr std::size_t kTileListBytes = 700;

std::atomic<int> allocations_left = 0;  // of so many bytes, until the one that fails; 0: none does

}  // namespace

void* operator new(std::size_t n_bytes) {
  const bool fails = n_bytes >= kTileListBytes && allocations_left > 0 && --allocations_left == 0;
  void* const memory = fails ? nullptr : std::malloc(n_bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*n_bytes*/) noexcept { std::free(memory); }

namespace podere::neural {
namespace {

struct Failing {
  int servers;
  int staleness;
  int n_allocations;  // of a failing worker after the first round: two a batch
  bool all_workers = false;
};

void train_with(const Failing& failing) {
  const Options options{
      .hidden = {2}, .epochs = 40, .batch_size = 1280, .servers = failing.servers, .staleness = failing.staleness};
  const int n_workers = world().size() - failing.servers;
  const bool fails = world().rank() < n_workers && (failing.all_workers || world().rank() == n_workers - 1);
  bool is_armed = false;
  const Hook run_out_of_memory = [&](const AfterStep&) {
    if (fails && !std::exchange(is_armed, true)) allocations_left = failing.n_allocations;
  };
  Progress progress;
  const table::Table table = random_table({.n_rows = 20000}, world());
  train(table::HeldRows(table), nullptr, options, world(), 1, progress, nullptr, {.hooks = {run_out_of_memory}});
}

/// The message on this rank.
std::string failure_of(const Failing& failing) {
  std::string message = "nothing";
  try {
    train_with(failing);
  } catch (const std::exception& error) {
    message = error.what();
  }
  allocations_left = 0;
  return message;
}

class FailingWorkerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (world().size() < 2) GTEST_SKIP() << "needs a worker and a server";
  }
};

TEST_F(FailingWorkerTest, AllRanksEndWithItsCause) {
  for (int servers = 1; servers <= std::min(2, world().size() - 1); ++servers) {
    for (const int staleness : {0, 1, -1}) {
      // In the first batch of a round, in the list of those here of the second one, and later.
      for (const int n_allocations : {1, 4, 7}) {
        EXPECT_EQ(failure_of({servers, staleness, n_allocations}), "std::bad_alloc")
            << servers << " servers, staleness " << staleness << ", allocation " << n_allocations;
      }
    }
  }
}

TEST_F(FailingWorkerTest, AllWorkersMayFailAtOnce) {
  for (const int staleness : {0, 1, -1}) {
    EXPECT_EQ(failure_of({.servers = 1, .staleness = staleness, .n_allocations = 3, .all_workers = true}),
              "std::bad_alloc");
  }
}

TEST_F(FailingWorkerTest, TheGroupCanTrainAgain) {
  failure_of({.servers = 1, .staleness = -1, .n_allocations = 5});
  EXPECT_EQ(failure_of({.servers = 1, .staleness = -1, .n_allocations = 0}), "nothing");
}

}  // namespace
}  // namespace podere::neural
