#include "podere/controller/status_writer.h"

#include <gtest/gtest.h>

#include <atomic>

#include "podere/base/test_clock.h"
#include "podere/controller/farm_object.h"
#include "podere/kube/test_api.h"

namespace podere::controller {
namespace {

/// What was written of each status, and the answer to all that come.
class StatusWriterTest : public testing::Test {
 protected:
  bool comes_to(std::size_t n_requests) {
    return clock_.turns_until([&] { return written().size() >= n_requests; }, 1, 0.01);
  }
  bool comes_to_rest() const { return clock_.comes_to_rest(1); }
  std::vector<std::string> written() const {
    const std::scoped_lock lock(mutex_);
    return written_;
  }
  static StatusSubject farm(const std::string& name) { return {kFarms, {"astro", name}, "uid-" + name}; }
  static Json message(const std::string& text) { return {{"message", text}}; }

  std::atomic<int> status_ = 200;
  std::atomic<bool> is_there_ = true;
  std::atomic<bool> may_write_ = true;
  mutable std::mutex mutex_;
  std::vector<std::string> written_;  // messages
  HttpTestServer server_{[this](const std::string& request) {
    const std::scoped_lock lock(mutex_);
    written_.push_back(Json::parse(kube::body_of(request)).at("status").at("message"));
    return status_ == 200 ? kube::json_answer(Json::object()) : kube::error_answer(status_, "Conflict");
  }};
  TestClock clock_;
  kube::Client client_{kube::access_to(server_), {.max_retries = 0}};
  Metrics metrics_;
  Writer writer_{client_, [this] { return may_write_.load(); }, metrics_};
  const std::function<bool(const StatusSubject&)> is_there = [this](const StatusSubject&) { return is_there_.load(); };
  const std::function<void(const std::string&)> log = [](const std::string&) {};
};

TEST_F(StatusWriterTest, OfStatusesInShortOrderTheFirstAndTheLastAreWritten) {
  StatusWriter statuses(writer_, is_there, log, {.seconds_between = 0.2, .clock = &clock_});
  statuses.submit(farm("a"), message("1"));
  ASSERT_TRUE(comes_to_rest());
  statuses.submit(farm("a"), message("2"));
  statuses.submit(farm("a"), message("3"));
  ASSERT_TRUE(comes_to_rest());
  EXPECT_EQ(written(), (std::vector<std::string>{"1"}));
  clock_.turn(0.2);
  ASSERT_TRUE(comes_to_rest());
  clock_.turn(100);
  ASSERT_TRUE(comes_to_rest());
  EXPECT_EQ(written(), (std::vector<std::string>{"1", "3"}));
}

TEST_F(StatusWriterTest, AConflictIsTriedAgain) {
  StatusWriter statuses(writer_, is_there, log, {.first_retry_seconds = 0.02, .clock = &clock_});
  status_ = 409;
  statuses.submit(farm("a"), message("1"));
  ASSERT_TRUE(comes_to(3));
  EXPECT_NEAR(clock_.seconds(), 0.02 + 0.04, 0.02) << "twice as long each time";
  ASSERT_TRUE(comes_to_rest());
  status_ = 200;
  ASSERT_TRUE(comes_to(4));
  ASSERT_TRUE(comes_to_rest());
  clock_.turn(100);
  ASSERT_TRUE(comes_to_rest());
  EXPECT_EQ(written(), std::vector<std::string>(4, "1"));
}

TEST_F(StatusWriterTest, TheStatusOfAnObjectThatHasGoneIsForgotten) {
  StatusWriter statuses(writer_, is_there, log, {.first_retry_seconds = 0.02, .clock = &clock_});
  status_ = 404;
  is_there_ = false;
  statuses.submit(farm("a"), message("1"));
  ASSERT_TRUE(comes_to(1));
  ASSERT_TRUE(comes_to_rest());
  clock_.turn(100);
  ASSERT_TRUE(comes_to_rest());
  EXPECT_EQ(written().size(), 1U);
}

TEST_F(StatusWriterTest, ManyWaitForTheirTurn) {
  StatusWriter statuses(writer_, is_there, log, {.per_second = 1, .burst = 2, .clock = &clock_});
  for (const char* const name : {"a", "b", "c", "d"}) statuses.submit(farm(name), message(name));
  for (const std::size_t n_written : {2, 3, 4}) {
    ASSERT_TRUE(comes_to_rest());
    EXPECT_EQ(written().size(), n_written);
    clock_.turn(1);
  }
}

TEST_F(StatusWriterTest, WhoMayWriteNoLongerWritesNothing) {
  may_write_ = false;
  std::atomic<bool> asked = false;
  Writer writer(
      client_, [&] { return asked = true, may_write_.load(); }, metrics_);
  {
    StatusWriter statuses(writer, is_there, log, {.clock = &clock_});
    statuses.submit(farm("a"), message("1"));
    ASSERT_TRUE(TestClock::comes_true([&] { return asked.load(); }));
  }
  EXPECT_TRUE(written().empty());
}

}  // namespace
}  // namespace podere::controller
