#include "podere/base/parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace podere {
namespace {

TEST(ParallelFor, RunsEveryTaskOnceOnAThreadInRange) {
  for (const int n_threads : {-1, 0, 1, 2, 3, 8}) {
    for (const std::size_t n_tasks : {0UL, 1UL, 2UL, 7UL, 1000UL}) {
      std::vector<std::atomic<int>> runs(n_tasks);
      parallel_for(n_threads, n_tasks, [&](std::size_t task, int thread) {
        ++runs[task];
        EXPECT_GE(thread, 0);
        EXPECT_LT(thread, std::max(1, n_threads));
      });
      for (const auto& n : runs) EXPECT_EQ(n, 1);
    }
  }
}

TEST(ParallelForInOrder, BeginsATaskOnlyWhenThoseBeforeItAreTaken) {
  constexpr std::size_t kThreads = 3;
  std::vector<std::atomic<int>> runs(1000);
  parallel_for_in_order(kThreads, runs.size(), [&](std::size_t task, int) {
    ++runs[task];
    const auto n_begun = std::count(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(task), 1);
    EXPECT_GE(static_cast<std::size_t>(n_begun) + kThreads, task + 1);  // others may have taken one and not begun it
  });
  for (const auto& n : runs) EXPECT_EQ(n, 1);
}

std::string message_of(int n_threads, std::size_t n_tasks, const std::vector<bool>& throws, int* n_run) {
  std::atomic<int> count = 0;
  std::string message = "none";
  try {
    parallel_for(n_threads, n_tasks, [&](std::size_t task, int) {
      ++count;
      if (throws[task]) throw std::runtime_error(std::to_string(task));
    });
  } catch (const std::runtime_error& error) {
    message = error.what();
  }
  *n_run = count;
  return message;
}

TEST(ParallelFor, ThrowsTheExceptionOfTheLowestTask) {
  std::vector<bool> throws(100, false);
  for (const std::size_t task : {97UL, 41UL, 13UL, 14UL}) throws[task] = true;
  for (const int n_threads : {1, 2, 5}) {
    for (int repeat = 0; repeat < 50; ++repeat) {
      int n_run = 0;
      EXPECT_EQ(message_of(n_threads, throws.size(), throws, &n_run), "13");
      if (n_threads > 1) {
        EXPECT_EQ(n_run, 100);
      }
    }
  }
}

TEST(ParallelFor, ALoopWithinATaskRunsOnTheTasksThread) {
  std::vector<std::atomic<int>> runs(6 * 7);
  parallel_for(3, 6, [&](std::size_t outer, int) {
    const auto id = std::this_thread::get_id();
    parallel_for(3, 7, [&](std::size_t inner, int thread) {
      ++runs[outer * 7 + inner];
      EXPECT_EQ(thread, 0);
      EXPECT_EQ(std::this_thread::get_id(), id);
    });
  });
  for (const auto& n : runs) EXPECT_EQ(n, 1);
}

TEST(ParallelFor, LoopsOfSeveralThreadsDoNotDisturbEachOther) {
  const auto sum_up = [](std::atomic<std::size_t>& sum) {
    for (int repeat = 0; repeat < 200; ++repeat) parallel_for(3, 50, [&](std::size_t task, int) { sum += task; });
  };
  std::atomic<std::size_t> first = 0;
  std::atomic<std::size_t> second = 0;
  std::thread other([&] { sum_up(second); });
  sum_up(first);
  other.join();
  EXPECT_EQ(first, 200 * 49 * 25);
  EXPECT_EQ(second, 200 * 49 * 25);
}

TEST(ParallelFor, WhatTasksWroteIsSeenAfterTheLoop) {
  std::vector<std::size_t> values(64);
  for (std::size_t repeat = 1; repeat < 500; ++repeat) {
    parallel_for(4, values.size(), [&](std::size_t task, int) { values[task] += task; });
    for (std::size_t task = 0; task < values.size(); ++task) ASSERT_EQ(values[task], repeat * task);
  }
}

TEST(ParallelFor, LoopsOfManySizesFollowOneAnother) {
  std::vector<int> runs(16);
  std::vector<int> expected(16);
  for (int repeat = 0; repeat < 3000; ++repeat) {
    const auto n_tasks = static_cast<std::size_t>(1 + repeat % 16);
    const int n_threads = 1 + repeat % 5;
    parallel_for(n_threads, n_tasks, [&](std::size_t task, int thread) {
      EXPECT_LT(thread, n_threads);
      ++runs[task];
    });
    for (std::size_t task = 0; task < n_tasks; ++task) ++expected[task];
  }
  EXPECT_EQ(runs, expected);
}

TEST(SliceOf, CutsARangeIntoNearlyEqualPieces) {
  for (const std::size_t n_items : {0UL, 1UL, 5UL, 64UL, 1001UL}) {
    for (const std::size_t n : {1UL, 2UL, 3UL, 7UL, 100UL}) {
      std::size_t end = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const Slice slice = slice_of(n_items, i, n);
        EXPECT_EQ(slice.begin, end);
        end = slice.end;
        EXPECT_GE(slice.end - slice.begin, n_items / n);
        EXPECT_LE(slice.end - slice.begin, n_items / n + 1);
      }
      EXPECT_EQ(end, n_items);
    }
  }
}

TEST(ParallelForSlices, CoversEveryItemOnceInPiecesOfTheGrain) {
  for (const std::size_t n_items : {0UL, 1UL, 9UL, 10UL, 11UL, 995UL}) {
    std::vector<std::atomic<int>> runs(n_items);
    parallel_for_slices(3, n_items, 10, [&](std::size_t begin, std::size_t end, int) {
      EXPECT_EQ(begin % 10, 0U);
      EXPECT_LT(begin, end);
      EXPECT_LE(end - begin, 10U);
      for (std::size_t i = begin; i < end; ++i) ++runs[i];
    });
    for (const auto& n : runs) EXPECT_EQ(n, 1);
  }
}

}  // namespace
}  // namespace podere
