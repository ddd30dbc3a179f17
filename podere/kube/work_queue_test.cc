#include "podere/kube/work_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>
#include <vector>

namespace podere::kube {
namespace {

using namespace std::chrono_literals;

const ObjectKey kA{"astro", "a"};
const ObjectKey kB{"astro", "b"};

TEST(WorkQueue, GivesEachKeyOnceInOrder) {
  WorkQueue queue;
  for (const ObjectKey& key : {kB, kA, kB, kB}) queue.add(key);
  EXPECT_EQ(queue.counts().n_waiting, 2U);
  EXPECT_EQ(queue.take()->key(), kB);
  EXPECT_EQ(queue.take()->key(), kA);
  EXPECT_EQ(queue.counts().n_waiting, 0U);
  EXPECT_EQ(queue.counts().n_added, 2U);
}

TEST(WorkQueue, GivesAKeyThatIsWorkedOnToNoOtherWorkerButAfterwards) {
  WorkQueue queue;
  queue.add(kA);
  {
    const auto work = queue.take();
    queue.add(kA);
    queue.add(kA);
    queue.add(kB);
    EXPECT_EQ(queue.counts().n_worked_on, 1U);
    EXPECT_EQ(queue.take()->key(), kB);
    EXPECT_EQ(queue.counts().n_waiting, 0U);
  }
  EXPECT_EQ(queue.take()->key(), kA);
  EXPECT_EQ(queue.counts().n_waiting, 0U) << "once for twice";
}

TEST(WorkQueue, WaitsForKeysThatComeLater) {
  WorkQueue queue;
  queue.add_after(kA, 0.2);
  queue.add_after(kB, 60);
  queue.add_after(kB, 0.05);
  queue.add_after(kB, 30);
  EXPECT_EQ(queue.counts().n_delayed, 2U);
  EXPECT_EQ(queue.take()->key(), kB) << "the soonest of several holds";
  const Stopwatch watch;
  EXPECT_EQ(queue.take()->key(), kA);
  EXPECT_LT(watch.seconds(), 10);
  EXPECT_EQ(queue.counts().n_delayed, 0U);
}

TEST(WorkQueue, EndsWhenItIsShutDown) {
  WorkQueue queue;
  std::vector<std::jthread> workers;
  std::atomic<int> n_ended = 0;
  for (int i = 0; i < 3; ++i) {
    workers.emplace_back([&] {
      while (queue.take()) {
      }
      ++n_ended;
    });
  }
  queue.add_after(kA, 1000);
  queue.shut_down();
  workers.clear();
  EXPECT_EQ(n_ended, 3);
  queue.add(kA);
  EXPECT_FALSE(queue.take());
}

TEST(WorkQueue, NeverGivesOneKeyToTwoWorkersAndLosesNone) {
  constexpr int kKeys = 20;
  WorkQueue queue({.per_second = 1e6, .burst = 1e6});
  std::map<ObjectKey, std::atomic<int>> workers_at;
  std::map<ObjectKey, std::atomic<int>> last_seen;  // the value of `wanted` when work on the key began
  std::map<ObjectKey, std::atomic<int>> wanted;
  std::vector<ObjectKey> keys;
  for (int i = 0; i < kKeys; ++i) keys.push_back({"n", std::to_string(i)});
  for (const auto& key : keys) workers_at[key] = last_seen[key] = wanted[key] = 0;
  std::atomic<bool> is_shared = false;
  {
    std::vector<std::jthread> workers;
    for (int t = 0; t < 4; ++t) {
      workers.emplace_back([&, t] {
        int n = t;
        while (const auto work = queue.take()) {
          if (++workers_at.at(work->key()) != 1) is_shared = true;
          last_seen.at(work->key()) = wanted.at(work->key()).load();
          if (++n % 7 == 0) std::this_thread::sleep_for(50us);
          --workers_at.at(work->key());
          if (n % 5 == 0) queue.retry(work->key());
        }
      });
    }
    {
      std::vector<std::jthread> adders;
      for (int t = 0; t < 3; ++t) {
        adders.emplace_back([&, t] {
          for (int i = 0; i < 3000; ++i) {
            const ObjectKey& key = keys[static_cast<std::size_t>(i * (t + 1) % kKeys)];
            ++wanted.at(key);
            i % 3 == 0 ? queue.add_after(key, 0.001) : queue.add(key);
          }
        });
      }
    }
    const auto has_all = [&] {
      return std::ranges::all_of(keys, [&](const auto& key) { return last_seen.at(key) == wanted.at(key); });
    };
    for (int i = 0; i < 1000 && !has_all(); ++i) std::this_thread::sleep_for(10ms);
    EXPECT_TRUE(has_all());
    queue.shut_down();
  }
  EXPECT_FALSE(is_shared);
}

TEST(RetryDelays, DoubleForEachKeyUpToALimit) {
  RetryDelays delays({.per_second = 1e9, .burst = 1e9});
  EXPECT_DOUBLE_EQ(delays.next(kA, 0), 0.005);
  EXPECT_DOUBLE_EQ(delays.next(kA, 0), 0.01);
  EXPECT_DOUBLE_EQ(delays.next(kB, 0), 0.005);
  double last = 0;
  for (int i = 0; i < 100; ++i) last = delays.next(kA, 0);
  EXPECT_DOUBLE_EQ(last, 1000);
  EXPECT_EQ(delays.n_failures(kA), 102U);
  delays.forget(kA);
  EXPECT_DOUBLE_EQ(delays.next(kA, 0), 0.005);
}

TEST(RetryDelays, ShareOneBucket) {
  RetryDelays delays({.first_seconds = 0.001, .longest_seconds = 1000, .per_second = 10, .burst = 2});
  const auto next = [&](int i) { return delays.next({"n", std::to_string(i)}, 100); };
  EXPECT_DOUBLE_EQ(next(1), 0.001);
  EXPECT_DOUBLE_EQ(next(2), 0.001);
  EXPECT_NEAR(next(3), 0.1, 1e-9);
  EXPECT_NEAR(next(4), 0.2, 1e-9);
  EXPECT_NEAR(delays.next({"n", "5"}, 100.25), 0.05, 1e-9);
}

TEST(TokenBucket, FillsUpToItsBurst) {
  TokenBucket bucket(2, 3);
  EXPECT_EQ(bucket.take(1000), 0);
  EXPECT_TRUE(bucket.take_at_once(1000));
  EXPECT_TRUE(bucket.take_at_once(1000));
  EXPECT_FALSE(bucket.take_at_once(1000.4));
  EXPECT_TRUE(bucket.take_at_once(1000.5));
  EXPECT_DOUBLE_EQ(bucket.take(1000.5), 0.5);
  bucket.pause_until(1010);
  EXPECT_FALSE(bucket.take_at_once(1005));
  EXPECT_DOUBLE_EQ(bucket.take(1005), 5);
  EXPECT_TRUE(bucket.take_at_once(1010));
}

}  // namespace
}  // namespace podere::kube
