#include "podere/kube/reflector.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "podere/base/clock.h"
#include "podere/kube/store.h"
#include "podere/kube/test_api.h"
#include "podere/kube/waiting.h"

namespace podere::kube {
namespace {

using namespace std::chrono_literals;

/// Keeps the version of each pod, and notes what changes, such as "+a1", "a1>a2", "-a2".
class Pods {
 public:
  Store<std::string> store{[](const Json& pod) {
                             if (key_of(pod).name == "strange") throw Error("has no such field");
                             return key_of(pod).name + std::string(resource_version_of(pod));
                           },
                           [this](const Store<std::string>::Change& change) { note(change); }};

  std::vector<std::string> changes() const {
    const std::scoped_lock lock(mutex_);
    return changes_;
  }
  /// Waits for the last change to be this one.
  bool comes_to(const std::string& change) const {
    for (int i = 0; i < 1000; ++i) {
      const auto so_far = changes();
      if (!so_far.empty() && so_far.back() == change) return true;
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }

 private:
  void note(const Store<std::string>::Change& change) {
    const std::scoped_lock lock(mutex_);
    if (!change.before) {
      changes_.push_back("+" + *change.after);
    } else if (!change.after) {
      changes_.push_back("-" + *change.before);
    } else {
      changes_.push_back(*change.before + ">" + *change.after);
    }
  }

  mutable std::mutex mutex_;
  std::vector<std::string> changes_;
};

/// Serves lists and watches by turns as scripted; the last of each for ever.
class Api {
 public:
  using Watch = std::function<void(HttpTestConnection&)>;
  Api(std::vector<std::string> lists, std::vector<Watch> watches)
      : lists_(std::move(lists)), watches_(std::move(watches)) {}

  std::vector<std::string> requests() const {
    const std::scoped_lock lock(mutex_);
    return requests_;
  }
  Access access() const { return access_to(server_); }

 private:
  void serve(const std::string& request, HttpTestConnection& connection) {
    const bool is_watch = request.find("watch=1") != std::string::npos;
    const auto turn = [&](const auto& of, std::size_t& n) { return of.at(std::min(n++, of.size() - 1)); };
    std::string list;
    Watch watch;
    {
      const std::scoped_lock lock(mutex_);
      const std::string line = request_line(request);
      requests_.push_back(line.substr(0, line.find("&timeoutSeconds")));
      is_watch ? static_cast<void>(watch = turn(watches_, n_watches_))
               : static_cast<void>(list = turn(lists_, n_lists_));
    }
    is_watch ? watch(connection) : static_cast<void>(connection.send(list));
  }

  const std::vector<std::string> lists_;
  const std::vector<Watch> watches_;
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
  std::size_t n_lists_ = 0;
  std::size_t n_watches_ = 0;
  HttpTestServer server_{
      [this](const std::string& request, HttpTestConnection& connection) { serve(request, connection); }};
};

std::string list_of(const Json& pods, const std::string& version) { return json_answer(pod_list(pods, version)); }

Api::Watch events(std::vector<std::string> lines, std::chrono::milliseconds pause = 60s, bool ends_well = true) {
  return [=](HttpTestConnection& connection) {
    connection.send(kStreamHead);
    for (const auto& line : lines) connection.send(chunk(line));
    connection.pause(pause);
    if (ends_well) connection.send(kStreamEnd);
  };
}

ReflectorOptions quick(double silence_seconds = 180) {
  return {.resource = kPods,
          .query = {.in_namespace = "astro"},
          .silence_seconds = silence_seconds,
          .first_delay_seconds = 0.01,
          .longest_delay_seconds = 0.05};
}

constexpr const char* kList = "GET /api/v1/namespaces/astro/pods?limit=500";
constexpr const char* kWatch = "GET /api/v1/namespaces/astro/pods?watch=1&allowWatchBookmarks=true&resourceVersion=";

TEST(Reflector, ListsThenWatches) {
  Api api({list_of(Json::array({pod_object("a", "1"), pod_object("b", "2")}), "9")},
          {events({event_line("ADDED", pod_object("c", "10")), event_line("MODIFIED", pod_object("a", "11")),
                   event_line("DELETED", pod_object("b", "12"))})});
  Client client(api.access());
  Pods pods;
  const Reflector reflector(client, quick(), pods.store);
  ASSERT_TRUE(pods.comes_to("-b2"));
  EXPECT_TRUE(reflector.has_synced());
  EXPECT_EQ(pods.changes(), (std::vector<std::string>{"+a1", "+b2", "+c10", "a1>a11", "-b2"}));
  EXPECT_EQ(pods.store.size(), 2U);
  EXPECT_EQ(*pods.store.get({"astro", "c"}), "c10");
  EXPECT_EQ(pods.store.get({"astro", "b"}), nullptr);
  EXPECT_EQ(pods.store.all().front().first, (ObjectKey{"astro", "a"}));
  EXPECT_EQ(api.requests(),
            (std::vector<std::string>{kList + std::string("&resourceVersion=0"), kWatch + std::string("9")}));
}

TEST(Reflector, BeginsWithTheNewestListWhereThatIsAskedFor) {
  Api api({list_of(Json::array({pod_object("a", "1")}), "9")}, {events({event_line("ADDED", pod_object("b", "10"))})});
  Client client(api.access());
  Pods pods;
  ReflectorOptions options = quick();
  options.begins_with_newest = true;
  const Reflector reflector(client, options, pods.store);
  ASSERT_TRUE(pods.comes_to("+b10"));
  EXPECT_EQ(api.requests().front(), kList) << "no resourceVersion: whatever was written before is in it";
}

TEST(Reflector, ResumesWhereAWatchEndedAlsoAfterDeletesAndBookmarks) {
  Api api({list_of(Json::array(), "9")},
          {events({event_line("ADDED", pod_object("a", "10")), event_line("DELETED", pod_object("a", "12"))}, 0ms),
           events({bookmark_line("40")}, 0ms), events({event_line("ADDED", pod_object("z", "41"))})});
  Client client(api.access());
  Pods pods;
  const Reflector reflector(client, quick(), pods.store);
  ASSERT_TRUE(pods.comes_to("+z41"));
  const auto requests = api.requests();
  ASSERT_EQ(requests.size(), 4U) << "one list";
  EXPECT_EQ(requests[2], kWatch + std::string("12"));
  EXPECT_EQ(requests[3], kWatch + std::string("40"));
  EXPECT_EQ(reflector.counts().n_failures, 0U);
}

TEST(Reflector, ResumesAfterAStreamWasCutInMidLine) {
  const std::string line = event_line("ADDED", pod_object("b", "11"));
  Api api({list_of(Json::array(), "9")},
          {events({event_line("ADDED", pod_object("a", "10")), line.substr(0, 30)}, 0ms, /*ends_well=*/false),
           events({line})});
  Client client(api.access());
  Pods pods;
  const Reflector reflector(client, quick(), pods.store);
  ASSERT_TRUE(pods.comes_to("+b11"));
  EXPECT_EQ(api.requests().back(), kWatch + std::string("10"));
  EXPECT_EQ(reflector.counts().n_lists, 1U);
  EXPECT_EQ(reflector.counts().n_failures, 1U);
}

TEST(Reflector, ListsAnewWhatHoldsNowAfterGoneInStatusAndInStream) {
  const Api::Watch in_status = [](HttpTestConnection& connection) { connection.send(error_answer(410, "Expired")); };
  const Api::Watch in_stream = events({event_line("ERROR", status_object(410, "Expired", "too old"))});
  for (const Api::Watch& gone : {in_status, in_stream}) {
    Api api({list_of(Json::array({pod_object("a", "1"), pod_object("b", "2"), pod_object("c", "3")}), "9"),
             list_of(Json::array({pod_object("a", "1"), pod_object("b", "20"), pod_object("d", "21")}), "30")},
            {gone, events({event_line("ADDED", pod_object("z", "31"))})});
    Client client(api.access());
    Pods pods;
    const Reflector reflector(client, quick(), pods.store);
    ASSERT_TRUE(pods.comes_to("+z31"));
    EXPECT_EQ(pods.changes(), (std::vector<std::string>{"+a1", "+b2", "+c3", "b2>b20", "+d21", "-c3", "+z31"}))
        << "nothing of a, which is the same";
    EXPECT_EQ(api.requests()[2], kList) << "not whatever the server has at hand";
    EXPECT_EQ(api.requests()[3], kWatch + std::string("30"));
  }
}

TEST(Reflector, ListsAnewWhenItsVersionIsRefusedAgainAndAgain) {
  const Api::Watch refused = [](HttpTestConnection& connection) {
    connection.send(error_answer(504, "Timeout", "Too large resource version: 9, current: 3"));
  };
  Api api({list_of(Json::array({pod_object("a", "1")}), "9"), list_of(Json::array({pod_object("a", "2")}), "3")},
          {refused, refused, refused, events({})});
  Client client(api.access());
  Pods pods;
  const Reflector reflector(client, quick(), pods.store);
  EXPECT_TRUE(pods.comes_to("a1>a2"));
  EXPECT_EQ(api.requests()[4], kList);
}

TEST(Reflector, ContinuesWithAnotherWatchWhenOneIsSilent) {
  Api api({list_of(Json::array(), "9")}, {events({}), events({event_line("ADDED", pod_object("a", "10"))})});
  Client client(api.access());
  Pods pods;
  const Reflector reflector(client, quick(0.2), pods.store);
  EXPECT_TRUE(pods.comes_to("+a10"));
  EXPECT_EQ(reflector.counts().n_lists, 1U);
  EXPECT_EQ(reflector.counts().n_failures, 0U) << "perhaps nothing happened";
}

TEST(Reflector, WaitsLongerAfterEachFailure) {
  std::vector<std::string> lines;
  std::mutex mutex;
  ReflectorOptions options = quick();
  options.log = [&](const std::string& line) {
    const std::scoped_lock lock(mutex);
    lines.push_back(line);
  };
  Api api({error_answer(500, "InternalError"), error_answer(403, "Forbidden"), "", list_of(Json::array(), "9")},
          {events({}, 0ms), events({}, 0ms), events({event_line("ADDED", pod_object("a", "10"))})});
  Client client(api.access());
  Pods pods;
  const Reflector reflector(client, options, pods.store);
  ASSERT_TRUE(pods.comes_to("+a10"));
  EXPECT_EQ(reflector.counts().n_failures, 5U);
  const std::scoped_lock lock(mutex);
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_NE(lines[1].find("Forbidden); lists again in 0.0 s"), std::string::npos) << lines[1];
  EXPECT_NE(lines[4].find("the watch of pods ended at once; watches again in 0."), std::string::npos) << lines[4];
}

TEST(Reflector, PassesOverObjectsThatItsMirrorDoesNotTake) {
  Api api({list_of(Json::array({pod_object("strange", "1"), pod_object("a", "2")}), "9")},
          {events({event_line("MODIFIED", pod_object("strange", "10")), event_line("ADDED", pod_object("b", "11"))})});
  Client client(api.access());
  Pods pods;
  const Reflector reflector(client, quick(), pods.store);
  ASSERT_TRUE(pods.comes_to("+b11"));
  EXPECT_EQ(pods.changes(), (std::vector<std::string>{"+a2", "+b11"}));
  EXPECT_EQ(reflector.counts().n_failures, 0U);
}

TEST(Reflector, ReportsWhenItHasAll) {
  std::atomic<bool> may_answer = false;
  const HttpTestServer server([&](const std::string& request, HttpTestConnection& connection) {
    while (!may_answer && connection.pause(5ms)) {
    }
    request.find("watch=1") == std::string::npos ? static_cast<void>(connection.send(list_of(Json::array(), "9")))
                                                 : events({})(connection);
  });
  Client client(access_to(server));
  Pods pods;
  const Reflector reflector(client, quick(), pods.store);
  EXPECT_FALSE(reflector.wait_until_synced(0.05));
  may_answer = true;
  EXPECT_TRUE(reflector.wait_until_synced(10));
}

TEST(Reflector, EndsAtOnceWhileItListsWatchesAndWaits) {
  const auto pausing = [](HttpTestConnection& connection) { connection.pause(60s); };
  const HttpTestServer silent([&](const std::string&, HttpTestConnection& connection) { pausing(connection); });
  const HttpTestServer watched([](const std::string& request, HttpTestConnection& connection) {
    request.find("watch=1") == std::string::npos ? static_cast<void>(connection.send(list_of(Json::array(), "9")))
                                                 : events({})(connection);
  });
  const HttpTestServer refusing([](const std::string&) { return error_answer(403, "Forbidden"); });
  for (const HttpTestServer* const server : {&silent, &watched, &refusing}) {
    Client client(access_to(*server));
    Pods pods;
    ReflectorOptions options = quick();
    options.first_delay_seconds = options.longest_delay_seconds = 60;
    const Stopwatch watch;
    {
      const Reflector reflector(client, options, pods.store);
      std::this_thread::sleep_for(100ms);
    }
    EXPECT_LT(watch.seconds(), 10);
  }
}

}  // namespace
}  // namespace podere::kube
