#include "podere/classify/decode_clock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <future>
#include <thread>

namespace podere::classify {
namespace {

TEST(DecodeClock, CountsProcessorTimeOfTheThreadThatDecodes) {
  std::promise<std::uint64_t> too_long;
  std::atomic<bool> is_found = false;
  DecodeClock clock(2, 1, [&](std::uint64_t task) {
    if (!is_found.exchange(true)) too_long.set_value(task);
  });
  std::thread waits([&] {
    clock.in(0, 7, [&] {
      while (!is_found) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    });
  });
  const int result = clock.in(1, 9, [&] {
    while (!is_found) continue;
    return 3;
  });
  waits.join();
  EXPECT_EQ(result, 3);
  EXPECT_EQ(too_long.get_future().get(), 9U);
}

TEST(DecodeClock, SaysNothingOfThoseThatEnd) {
  std::atomic<bool> is_found = false;
  {
    DecodeClock clock(1, 1, [&](std::uint64_t) { is_found = true; });
    for (std::uint64_t task = 0; task < 1000; ++task) clock.in(0, task, [] {});
    EXPECT_THROW(clock.in(0, 1, [] { throw 1; }), int);
    for (const std::clock_t begin = std::clock(); std::clock() - begin < 2 * CLOCKS_PER_SEC;) continue;
  }
  EXPECT_FALSE(is_found);
}

}  // namespace
}  // namespace podere::classify
