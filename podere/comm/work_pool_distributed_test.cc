#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "podere/base/error.h"
#include "podere/comm/work_pool.h"

namespace podere::comm {
namespace {

using std::chrono::milliseconds;

std::string twice_the_text(const std::string& task, const std::atomic<bool>& /*is_stopping*/) { return task + task; }
bool never_stops() { return true; }

/// Tasks "0", "1", ... of which some are only there once the result of others is.
class Chain {
 public:
  Chain(std::size_t n, std::size_t ahead) : n_(n), ahead_(ahead) {}

  std::optional<std::string> next() {
    if (n_given_ == n_ || n_given_ == results_.size() + ahead_) return std::nullopt;
    return std::to_string(n_given_++);
  }
  void take(std::string result) { results_.insert(std::move(result)); }
  std::multiset<std::string> results() const { return results_; }

 private:
  std::size_t n_;
  std::size_t ahead_;  // how many may be at work
  std::size_t n_given_ = 0;
  std::multiset<std::string> results_;
};

PooledWork work_on(Chain& chain) {
  return {[&] { return chain.next(); }, twice_the_text, [&](std::string result) { chain.take(std::move(result)); },
          never_stops};
}

TEST(WorkPoolTest, EachTaskIsDoneOnceAndItsResultComes) {
  const Communicator world = Communicator::world();
  for (const int n_threads : {1, 3}) {
    for (const std::size_t n : {0U, 1U, 2U, 40U}) {
      for (const std::size_t ahead : {1U, 4U, 100U}) {
        Chain chain(n, ahead);
        work_pool(world, n_threads, work_on(chain));
        std::multiset<std::string> expected;
        for (std::size_t i = 0; i < n; ++i) expected.insert(std::to_string(i) + std::to_string(i));
        EXPECT_EQ(chain.results(), world.is_root() ? expected : std::multiset<std::string>());
      }
    }
  }
}

TEST(WorkPoolTest, AllThreadsOfAllRanksWorkAtOnce) {
  const Communicator world = Communicator::world();
  constexpr int kThreads = 2;
  const auto n_all = static_cast<std::size_t>(world.size() * kThreads);
  Chain chain(n_all, n_all);
  PooledWork work = work_on(chain);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  work.work = [&](const std::string& task, const std::atomic<bool>& /*is_stopping*/) {
    std::this_thread::sleep_for(milliseconds(100));
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
    return task;
  };
  work_pool(world, kThreads, work);
  EXPECT_EQ(threads.size(), 2U);
}

/// Rank 0 and others send to each other at the same time.
TEST(WorkPoolTest, LongTextsCome) {
  const Communicator world = Communicator::world();
  const std::string long_text(3'000'000, '\0');
  std::size_t n_given = 0;
  std::size_t n_bytes = 0;
  constexpr std::size_t kTasks = 60;
  work_pool(world, 3,
            {[&]() -> std::optional<std::string> {
               if (n_given == kTasks) return std::nullopt;
               ++n_given;
               return long_text;
             },
             twice_the_text, [&](const std::string& result) { n_bytes += result.size(); }, never_stops});
  EXPECT_EQ(n_bytes, world.is_root() ? kTasks * 2 * long_text.size() : 0);
}

TEST(WorkPoolTest, ItStopsWhenItIsWatched) {
  const Communicator world = Communicator::world();
  std::size_t n_taken = 0;
  work_pool(world, 2,
            {[] { return std::string("task"); },
             [](const std::string& /*task*/, const std::atomic<bool>& is_stopping) {
               while (!is_stopping) std::this_thread::sleep_for(milliseconds(1));
               return std::string("stopped");
             },
             [&](const std::string& result) {
               EXPECT_EQ(result, "stopped");
               ++n_taken;
             },
             [] { return false; }});
  EXPECT_EQ(n_taken, world.is_root() ? static_cast<std::size_t>(world.size() * 2) : 0);
}

TEST(WorkPoolTest, AFailureEndsTheWorkOnAllRanks) {
  const Communicator world = Communicator::world();
  for (const std::string failing : {"work", "next", "take", "watch"}) {
    std::size_t n_given = 0;
    const auto fail = [&](const char* where) {
      if (failing == where) throw_input_error("{} failed", where);
    };
    const PooledWork work{[&] {
                            if (++n_given > 4) fail("next");
                            return std::to_string(n_given);
                          },
                          [&](const std::string& task, const std::atomic<bool>& /*is_stopping*/) {
                            std::this_thread::sleep_for(milliseconds(2));
                            if (task == "5") fail("work");
                            return task;
                          },
                          [&](const std::string& /*result*/) { fail("take"); },
                          [&] {
                            fail("watch");
                            return true;
                          }};
    try {
      work_pool(world, 2, work);
      FAIL() << "no error by " << failing;
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()), failing + " failed");
    }
  }
}

}  // namespace
}  // namespace podere::comm
