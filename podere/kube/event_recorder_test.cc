#include "podere/kube/event_recorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "podere/kube/test_api.h"

namespace podere::kube {
namespace {

using namespace std::chrono_literals;
using enum EventRecorder::Type;

/// Keeps events by name.
class EventServer {
 public:
  std::vector<Json> events() const {
    const std::scoped_lock lock(mutex_);
    std::vector<Json> events;
    for (const auto& [path, event] : events_) events.push_back(event);
    std::ranges::sort(events, {}, [](const Json& event) { return event.at("reason").get<std::string>(); });
    return events;
  }
  void forget() {
    const std::scoped_lock lock(mutex_);
    events_.clear();
  }
  /// Waits until the counts of all events, by reason, are these.
  bool comes_to(const std::vector<int>& counts) const {
    for (int i = 0; i < 1000; ++i) {
      std::vector<int> so_far;
      for (const Json& event : events()) so_far.push_back(event.at("count").get<int>());
      if (so_far == counts) return true;
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }

  std::atomic<int> status = 200;
  std::atomic<int> n_writes = 0;
  HttpTestServer server{[this](const std::string& request) { return answer(request); }};
  Client client{access_to(server), {.max_retries = 0}};

 private:
  std::string answer(const std::string& request) {
    ++n_writes;
    if (status == 0) return "";
    if (status != 200) return error_answer(status, "Forbidden");
    const std::scoped_lock lock(mutex_);
    const Json sent = Json::parse(body_of(request));
    if (request.starts_with("POST ")) {
      events_[kEvents.path(key_of(sent))] = sent;
      return json_answer(sent);
    }
    const std::string line = request_line(request);
    const auto found = events_.find(line.substr(6, line.find('?') - 6));
    if (found == events_.end()) return error_answer(404, "NotFound");
    found->second.merge_patch(sent);
    return json_answer(found->second);
  }

  mutable std::mutex mutex_;
  std::map<std::string, Json> events_;
};

const EventObject kFarm{{"podere.io", "v1", "Farm", "farms"}, {"astro", "gaia"}, "uid-1"};

TEST(EventRecorder, RecordsWhatHappenedToWhichObject) {
  EventServer server;
  EventRecorder recorder(server.client, {.component = "podere-operator", .instance = "pod-1"});
  recorder.record(kFarm, kWarning, "Reclaimed", "2 executors for farm 'other'");
  ASSERT_TRUE(server.comes_to({1}));
  Json event = server.events().front();
  EXPECT_TRUE(key_of(event).name.starts_with("gaia."));
  EXPECT_EQ(key_of(event).in_namespace, "astro");
  EXPECT_TRUE(time_from_text(text_at(event, {"firstTimestamp"})));
  EXPECT_EQ(event.at("involvedObject"), Json({{"apiVersion", "podere.io/v1"},
                                              {"kind", "Farm"},
                                              {"name", "gaia"},
                                              {"namespace", "astro"},
                                              {"uid", "uid-1"}}));
  EXPECT_EQ(event.at("type"), "Warning");
  EXPECT_EQ(event.at("message"), "2 executors for farm 'other'");
  EXPECT_EQ(event.at("reportingComponent"), "podere-operator");
}

TEST(EventRecorder, CountsWhatHappensAgain) {
  EventServer server;
  EventRecorder recorder(server.client, {.component = "c"});
  recorder.record(kFarm, kNormal, "Grown", "by 1");
  ASSERT_TRUE(server.comes_to({1}));
  recorder.record(kFarm, kNormal, "Grown", "by 2");
  recorder.record(kFarm, kNormal, "Grown", "by 3");
  recorder.record(kFarm, kNormal, "Shrunk", "by 1");
  ASSERT_TRUE(server.comes_to({3, 1}));
  EXPECT_EQ(server.events().front().at("message"), "by 3");
}

TEST(EventRecorder, WritesFewButCountsAll) {
  EventServer server;
  EventRecorder recorder(server.client, {.component = "c", .burst = 2, .seconds_per_write = 3});
  recorder.record(kFarm, kNormal, "Grown", "1");
  ASSERT_TRUE(server.comes_to({1}));
  recorder.record(kFarm, kNormal, "Grown", "2");
  ASSERT_TRUE(server.comes_to({2}));
  for (int i = 3; i <= 50; ++i) recorder.record(kFarm, kNormal, "Grown", std::to_string(i));
  ASSERT_TRUE(server.comes_to({50}));
  EXPECT_EQ(server.n_writes, 3);
}

TEST(EventRecorder, BeginsAnewWhatTheServerHasForgotten) {
  EventServer server;
  EventRecorder recorder(server.client, {.component = "c"});
  recorder.record(kFarm, kNormal, "Grown", "1");
  ASSERT_TRUE(server.comes_to({1}));
  server.forget();
  recorder.record(kFarm, kNormal, "Grown", "2");
  recorder.record(kFarm, kNormal, "Grown", "3");
  ASSERT_TRUE(server.comes_to({2}));
}

TEST(EventRecorder, ForgetsWhatIsRefusedAndComesAgainWhenNoServerAnswers) {
  EventServer server;
  EventRecorder recorder(server.client, {.component = "c"});
  server.status = 403;
  recorder.record(kFarm, kNormal, "Grown", "1");
  while (server.n_writes < 1) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(100ms);
  server.status = 200;
  recorder.record(kFarm, kNormal, "Shrunk", "1");
  ASSERT_TRUE(server.comes_to({1}));
  EXPECT_EQ(server.events().front().at("reason"), "Shrunk");
  server.status = 0;
  recorder.record(kFarm, kNormal, "Moved", "1");
  while (server.n_writes < 3) std::this_thread::sleep_for(1ms);
  server.status = 200;
  EXPECT_TRUE(server.comes_to({1, 1}));
}

TEST(EventRecorder, WritesWhatIsLeftWhenItGoes) {
  EventServer server;
  std::optional<EventRecorder> recorder(std::in_place, server.client, EventRecorderOptions{.component = "c"});
  recorder->record({kNodes, {"", "n1"}, ""}, kNormal, "Full", "of executors");
  ASSERT_TRUE(server.comes_to({1}));
  EXPECT_EQ(key_of(server.events().front()).in_namespace, "default") << "of what has no namespace";
  recorder->record(kFarm, kNormal, "Left", "without a leader");
  recorder.reset();
  EXPECT_TRUE(server.comes_to({1, 1}));
}

TEST(EventRecorder, KeepsAFewSeriesOnly) {
  EventServer server;
  EventRecorder recorder(server.client, {.component = "c", .burst = 1000, .max_series = 3});
  recorder.record(kFarm, kNormal, "First", "x");
  ASSERT_TRUE(server.comes_to({1}));
  for (int i = 0; i < 100; ++i) recorder.record(kFarm, kNormal, fmt::format("Reason{}", i), "x");
  const auto has_last = [&] {
    return std::ranges::any_of(server.events(), [](const Json& event) { return event.at("reason") == "Reason99"; });
  };
  for (int i = 0; i < 1000 && !has_last(); ++i) std::this_thread::sleep_for(10ms);
  EXPECT_TRUE(has_last());
  EXPECT_LE(server.events().size(), 4U) << "the first, and those of last";
}

}  // namespace
}  // namespace podere::kube
