#include "podere/controller/status_writer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "podere/controller/farm_object.h"
#include "podere/kube/test_api.h"

namespace podere::controller {
namespace {

/// What was written of each status, and the answer to all that come.
class StatusWriterTest : public testing::Test {
 protected:
  bool comes_to(std::size_t n_requests) const {
    for (int i = 0; i < 1000 && written().size() < n_requests; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return written().size() >= n_requests;
  }
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
  kube::Client client_{kube::access_to(server_), {.max_retries = 0}};
  Metrics metrics_;
  Writer writer_{client_, [this] { return may_write_.load(); }, metrics_};
  const std::function<bool(const StatusSubject&)> is_there = [this](const StatusSubject&) { return is_there_.load(); };
  const std::function<void(const std::string&)> log = [](const std::string&) {};
};

TEST_F(StatusWriterTest, OfStatusesInShortOrderTheFirstAndTheLastAreWritten) {
  StatusWriter statuses(writer_, is_there, log, {.seconds_between = 0.2});
  statuses.submit(farm("a"), message("1"));
  ASSERT_TRUE(comes_to(1));
  statuses.submit(farm("a"), message("2"));
  statuses.submit(farm("a"), message("3"));
  ASSERT_TRUE(comes_to(2));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(written(), (std::vector<std::string>{"1", "3"}));
}

TEST_F(StatusWriterTest, AConflictIsTriedAgain) {
  StatusWriter statuses(writer_, is_there, log, {.first_retry_seconds = 0.02});
  status_ = 409;
  statuses.submit(farm("a"), message("1"));
  ASSERT_TRUE(comes_to(3));
  status_ = 200;
  const std::size_t n_failed = written().size();
  ASSERT_TRUE(comes_to(n_failed + 1));
  EXPECT_EQ(written().back(), "1");
}

TEST_F(StatusWriterTest, TheStatusOfAnObjectThatHasGoneIsForgotten) {
  StatusWriter statuses(writer_, is_there, log, {.first_retry_seconds = 0.02});
  status_ = 404;
  is_there_ = false;
  statuses.submit(farm("a"), message("1"));
  ASSERT_TRUE(comes_to(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(written().size(), 1U);
}

TEST_F(StatusWriterTest, ManyWaitForTheirTurn) {
  StatusWriter statuses(writer_, is_there, log, {.per_second = 1, .burst = 2});
  for (const char* const name : {"a", "b", "c", "d"}) statuses.submit(farm(name), message(name));
  ASSERT_TRUE(comes_to(2));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(written().size(), 2U);
  EXPECT_TRUE(comes_to(4));
}

TEST_F(StatusWriterTest, WhoMayWriteNoLongerWritesNothing) {
  may_write_ = false;
  StatusWriter statuses(writer_, is_there, log);
  statuses.submit(farm("a"), message("1"));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_TRUE(written().empty());
}

}  // namespace
}  // namespace podere::controller
