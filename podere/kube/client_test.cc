#include "podere/kube/client.h"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>

#include "podere/base/clock.h"
#include "podere/base/interrupt.h"
#include "podere/kube/test_api.h"

namespace podere::kube {
namespace {

using namespace std::chrono_literals;

/// Answers one after another, the last one for ever, and keeps what was asked.
class Script {
 public:
  explicit Script(std::vector<std::string> answers) : answers_(std::move(answers)) {}

  std::string answer(const std::string& request) {
    const std::scoped_lock lock(mutex_);
    requests_.push_back(request);
    return answers_.at(std::min(requests_.size(), answers_.size()) - 1);
  }
  std::vector<std::string> requests() const {
    const std::scoped_lock lock(mutex_);
    return requests_;
  }

 private:
  const std::vector<std::string> answers_;
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
};

struct Scripted {
  explicit Scripted(std::vector<std::string> answers, ClientOptions options = {})
      : script(std::move(answers)),
        server([this](const std::string& request) { return script.answer(request); }),
        client(access_to(server), std::move(options)) {}
  std::string request() const { return script.requests().back(); }

  Script script;
  HttpTestServer server;
  Client client;
};

ApiError refusal_of(const std::string& answer) {
  Scripted scripted({answer}, {.max_retries = 0});
  try {
    scripted.client.get(kPods, {"astro", "a"});
  } catch (const ApiError& error) {
    EXPECT_EQ(std::string_view(error.what()).find_first_of("\r\n"), std::string_view::npos) << error.what();
    return error;
  }
  return ApiError("none", 0, "", {});
}

template <typename Failure, typename Act>
std::string failure_of(const Act& act) {
  try {
    act();
  } catch (const Failure& error) {
    EXPECT_EQ(std::string_view(error.what()).find_first_of("\r\n"), std::string_view::npos) << error.what();
    return error.what();
  }
  return "none";
}

std::string connection_failure_of(const std::string& answer) {
  Scripted scripted({answer});
  return failure_of<ConnectionError>([&] { scripted.client.get(kPods, {"astro", "a"}); });
}

TEST(Client, GetsAnObjectWithItsToken) {
  Scripted scripted({json_answer(pod_object("a", "7"))});
  EXPECT_EQ(scripted.client.get(kPods, {"astro", "a"}), pod_object("a", "7"));
  EXPECT_EQ(request_line(scripted.request()), "GET /api/v1/namespaces/astro/pods/a");
  EXPECT_NE(scripted.request().find("\r\nAuthorization: Bearer secret\r\n"), std::string::npos);
  EXPECT_NE(scripted.request().find("\r\nUser-Agent: podere/"), std::string::npos);
}

TEST(Client, FindsNothingWhereThereIsNothing) {
  Scripted scripted({error_answer(404, "NotFound"), error_answer(403, "Forbidden")});
  EXPECT_EQ(scripted.client.find(kPods, {"astro", "a"}), std::nullopt);
  EXPECT_THROW(scripted.client.find(kPods, {"astro", "a"}), ApiError);
}

TEST(Client, SendsWhatIsToBeWritten) {
  Scripted scripted({json_answer(Json::object())});
  Client& client = scripted.client;
  const Json pod = pod_object("a", "7");
  const auto sent = [&] { return request_line(scripted.request()) + " " + body_of(scripted.request()); };

  client.create(kPods, pod);
  EXPECT_EQ(sent(), "POST /api/v1/namespaces/astro/pods?fieldManager=podere " + pod.dump());
  client.replace(kPods.sub("status"), pod);
  EXPECT_EQ(sent(), "PUT /api/v1/namespaces/astro/pods/a/status?fieldManager=podere " + pod.dump());
  client.merge_patch(kPods.sub("scale"), {"astro", "a"}, {{"spec", {{"replicas", 3}}}});
  EXPECT_EQ(sent(), R"(PATCH /api/v1/namespaces/astro/pods/a/scale?fieldManager=podere {"spec":{"replicas":3}})");
  EXPECT_NE(scripted.request().find("Content-Type: application/merge-patch+json\r\n"), std::string::npos);
  client.apply(kPods, pod, {.manager = "the operator"});
  EXPECT_EQ(sent(), "PATCH /api/v1/namespaces/astro/pods/a?fieldManager=the%20operator " + pod.dump());
  EXPECT_NE(scripted.request().find("Content-Type: application/apply-patch+yaml\r\n"), std::string::npos);
  client.apply(kPods, pod, {.manager = "m", .is_forced = true});
  EXPECT_EQ(request_line(scripted.request()), "PATCH /api/v1/namespaces/astro/pods/a?fieldManager=m&force=true");
  client.remove(kPods, {"astro", "a"}, {.uid = "u", .resource_version = "7", .grace_seconds = 0});
  EXPECT_EQ(
      sent(),
      R"(DELETE /api/v1/namespaces/astro/pods/a {"apiVersion":"v1","gracePeriodSeconds":0,"kind":"DeleteOptions",)"
      R"("preconditions":{"resourceVersion":"7","uid":"u"}})");
  client.evict({"astro", "a"}, {.uid = "u"});
  EXPECT_EQ(request_line(scripted.request()), "POST /api/v1/namespaces/astro/pods/a/eviction");
  EXPECT_EQ(Json::parse(body_of(scripted.request())),
            Json::parse(R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"a","namespace":"astro"},
                            "deleteOptions":{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"u"}}})"));
}

TEST(Client, SendsLargeBodiesInWhole) {
  Scripted scripted({json_answer(Json::object())});
  Json pod = pod_object("a", "7");
  pod["spec"] = std::string(1 << 20, 'x');
  scripted.client.create(kPods, pod);
  EXPECT_EQ(body_of(scripted.request()), pod.dump());
}

TEST(Client, DistinguishesErrors) {
  EXPECT_TRUE(refusal_of(error_answer(409, "AlreadyExists")).already_exists());
  EXPECT_FALSE(refusal_of(error_answer(409, "AlreadyExists")).is_conflict());
  EXPECT_TRUE(refusal_of(error_answer(409, "Conflict")).is_conflict());
  EXPECT_TRUE(refusal_of(error_answer(410, "Expired")).is_gone());
  EXPECT_TRUE(refusal_of(error_answer(422, "Invalid")).is_invalid());
  const ApiError forbidden = refusal_of(error_answer(403, "Forbidden", "pods is\nforbidden: \x1b[2J"));
  EXPECT_TRUE(forbidden.is_forbidden());
  EXPECT_NE(std::string(forbidden.what())
                .find("/api/v1/namespaces/astro/pods/a: pods is\\x0aforbidden: \\x1b[2J (HTTP "
                      "status 403, Forbidden)"),
            std::string::npos)
      << forbidden.what();
}

TEST(Client, ReportsAnErrorThatIsNoStatus) {
  const ApiError error =
      refusal_of("HTTP/1.1 500 Oops\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\nno\nleader");
  EXPECT_EQ(error.status(), 500);
  EXPECT_NE(std::string(error.what()).find(": no (HTTP status 500)"), std::string::npos) << error.what();
  EXPECT_EQ(refusal_of("HTTP/1.1 503 Oops\r\nContent-Length: 0\r\n\r\n").status(), 503);
}

TEST(Client, ComesAgainWhenTheServerSaysLater) {
  const std::string later = error_answer(429, "TooManyRequests", "busy", "Retry-After: 1\r\n");
  Scripted scripted({later, json_answer(pod_object("a", "7"))});
  const Stopwatch watch;
  EXPECT_EQ(scripted.client.get(kPods, {"astro", "a"}), pod_object("a", "7"));
  EXPECT_GE(watch.seconds(), 0.95);
  EXPECT_EQ(scripted.server.n_requests(), 2);

  Scripted always({later}, {.max_retries = 1});
  try {
    always.client.get(kPods, {"astro", "a"});
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_TRUE(error.is_too_many_requests());
    EXPECT_EQ(error.retry_after_seconds(), 1);
  }
  EXPECT_EQ(always.server.n_requests(), 2);
}

TEST(Client, DoesNotRetryUnlessAsked) {
  Scripted scripted({error_answer(429, "TooManyRequests")});
  EXPECT_THROW(scripted.client.get(kPods, {"astro", "a"}), ApiError);
  EXPECT_EQ(scripted.server.n_requests(), 1);
}

TEST(Client, ReportsAtOnceThatABudgetForbidsAnEviction) {
  Json status = status_object(429, "TooManyRequests", "Cannot evict pod");
  status["details"] = {{"causes", {{{"reason", "DisruptionBudget"}}}}, {"retryAfterSeconds", 10}};
  Scripted scripted({json_answer(status, "429 Too Many Requests", "Retry-After: 10\r\n")});
  try {
    scripted.client.evict({"astro", "a"});
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_TRUE(error.is_from_disruption_budget());
  }
  EXPECT_EQ(scripted.server.n_requests(), 1);
}

TEST(Client, KeepsItsConnection) {
  const HttpTestServer server([](const std::string&, HttpTestConnection& connection) {
    connection.send(json_answer(Json::object()));
    connection.keep();
  });
  Client client(access_to(server));
  for (int i = 0; i < 5; ++i) client.ask("/version");
  EXPECT_EQ(server.n_requests(), 5);
  EXPECT_EQ(server.n_connections(), 1);
}

TEST(Client, ServesManyThreads) {
  const HttpTestServer server([](const std::string& request, HttpTestConnection& connection) {
    connection.send(json_answer({{"path", request_line(request)}}));
    connection.keep();
  });
  Client client(access_to(server), {.requests_per_second = 1e6, .burst = 1e6});
  std::vector<std::jthread> threads;
  std::atomic<int> n_right = 0;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const std::string path = fmt::format("/{}/{}", t, i);
        n_right += client.ask(path) == Json{{"path", "GET " + path}} ? 1 : 0;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(n_right, 400);
  EXPECT_LE(server.n_connections(), 8);
}

TEST(Client, WaitsForItsTurn) {
  Scripted scripted({json_answer(Json::object())}, {.requests_per_second = 20, .burst = 2});
  const Stopwatch watch;
  for (int i = 0; i < 6; ++i) scripted.client.ask("/version");
  EXPECT_GE(watch.seconds(), 0.19);
}

TEST(Client, StopsWhateverItIsDoing) {
  const HttpTestServer silent([](const std::string&, HttpTestConnection& connection) { connection.pause(60s); });
  Client client(access_to(silent));
  const Stopwatch watch;
  const std::jthread stopper([&] {
    while (silent.n_requests() == 0) std::this_thread::sleep_for(1ms);
    client.stop();
  });
  EXPECT_THROW(client.ask("/version"), Interrupted);
  EXPECT_THROW(client.ask("/version"), Interrupted) << "afterwards too";
  EXPECT_LT(watch.seconds(), 10);
}

TEST(Client, DoesNotWaitForEverForAnAnswer) {
  const HttpTestServer silent([](const std::string&, HttpTestConnection& connection) { connection.pause(60s); });
  Client client(access_to(silent), {.timeout_seconds = 0.2});
  const std::string message = failure_of<ConnectionError>([&] { client.ask("/version"); });
  EXPECT_NE(message.find("/version: too slow ("), std::string::npos) << message;
}

TEST(Client, RefusesWhatIsNoApiServersAnswer) {
  const auto has = [](const std::string& message, const char* text) {
    EXPECT_NE(message.find(text), std::string::npos) << message;
  };
  has(connection_failure_of(http_answer("200 OK", "<html>")), "the answer is no JSON; check that context 'test' of");
  has(connection_failure_of(http_answer("200 OK", "[1]")), "the answer is no JSON object");
  has(connection_failure_of("HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n"),
      "is answered by something else (HTTP status 302); check");
  has(connection_failure_of("HTTP/1.1 404 No\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\n<a"),
      "is answered by something else (HTTP status 404, text/html)");
  has(connection_failure_of("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"half\":"), "bytes remaining");
  has(connection_failure_of(""), "Empty reply");
  has(connection_failure_of("220 ready\r\n"), "GET http://127.0.0.1:");
}

TEST(Client, BoundsWhatItReads) {
  Scripted scripted({json_answer({{"long", std::string(5000, 'x')}})}, {.max_object_bytes = 4096});
  const std::string message = failure_of<ConnectionError>([&] { scripted.client.ask("/version"); });
  EXPECT_NE(message.find("the answer has more than 4096 bytes"), std::string::npos) << message;
}

TEST(Client, ReportsThatNoServerListens) {
  Access access;
  {
    const HttpTestServer server([](const std::string&) { return ""; });
    access = access_to(server);
  }
  Client client(access);
  const std::string message = failure_of<InputError>([&] { check_access(client); });
  EXPECT_NE(message.find("/version: no server answers ("), std::string::npos) << message;
  EXPECT_NE(message.find("check that the cluster runs, and that context 'test' of a test names its server"),
            std::string::npos)
      << message;
}

TEST(Client, ChecksAtTheStartWhetherAccessIsGood) {
  Scripted good({json_answer({{"gitVersion", "v1.29.14"}})});
  EXPECT_EQ(check_access(good.client), "v1.29.14");

  Scripted other({json_answer({{"status", "up"}})});
  EXPECT_NE(failure_of<InputError>([&] { check_access(other.client); }).find("is no API server of Kubernetes"),
            std::string::npos);

  Scripted refused({error_answer(401, "Unauthorized", "Unauthorized")});
  const std::string message = failure_of<InputError>([&] { check_access(refused.client); });
  EXPECT_NE(message.find("Unauthorized; the credentials of context 'test' of a test are refused: log in again"),
            std::string::npos)
      << message;
}

TEST(Client, ReportsThatATokenHasExpired) {
  const HttpTestServer server([](const std::string&) { return error_answer(401, "Unauthorized", "Unauthorized"); });
  Client client(access_to(server, {.token = "e30.eyJleHAiOjE3MDAwMDAwMDB9.x"}));  // {"exp":1700000000}
  const std::string message = failure_of<InputError>([&] { check_access(client); });
  EXPECT_NE(message.find("refused, the token expired on 2023-11-14T22:13:20Z: log in again"), std::string::npos)
      << message;
}

TEST(Client, RenewsCredentialsThatAreRefusedOnce) {
  class Rotating : public CredentialSource {
   public:
    Credentials current() override { return {.token = std::to_string(n_)}; }
    bool refuse(const Credentials&) override {
      ++n_;
      return true;
    }

   private:
    int n_ = 1;
  };
  const HttpTestServer server([](const std::string& request) {
    return request.find("Bearer 2\r\n") == std::string::npos ? error_answer(401, "Unauthorized")
                                                             : json_answer(Json::object());
  });
  Access access = access_to(server);
  access.credentials = std::make_shared<Rotating>();
  Client client(access);
  EXPECT_NO_THROW(client.ask("/version"));
  EXPECT_EQ(server.n_requests(), 2);
  access.credentials = std::make_shared<Rotating>();
  access.credentials->refuse({});
  access.credentials->refuse({});
  EXPECT_THROW(Client(access).ask("/version"), ApiError);
  EXPECT_EQ(server.n_requests(), 4) << "not for ever";
}

TEST(Client, ListsPageByPage) {
  Scripted scripted({json_answer(pod_list(Json::array({pod_object("a", "1"), pod_object("b", "2")}), "9", "p 2")),
                     json_answer(pod_list(Json::array({pod_object("c", "3")}), "9"))});
  const auto pods = scripted.client.list(kPods, {.in_namespace = "astro", .labels = "farm=a,!driver"});
  ASSERT_EQ(pods.size(), 3U);
  EXPECT_EQ(key_of(pods[2]).name, "c");
  EXPECT_EQ(pods[2].at("kind"), "Pod");
  EXPECT_EQ(pods[2].at("apiVersion"), "v1");
  EXPECT_EQ(request_line(scripted.script.requests()[0]),
            "GET /api/v1/namespaces/astro/pods?labelSelector=farm%3Da%2C%21driver&limit=500");
  EXPECT_EQ(request_line(scripted.script.requests()[1]),
            "GET /api/v1/namespaces/astro/pods?labelSelector=farm%3Da%2C%21driver&limit=500&continue=p%202");
}

TEST(Client, ListsAnewWhenPagesHaveGrownOld) {
  Scripted scripted({json_answer(pod_list(Json::array({pod_object("a", "1")}), "9", "p2")),
                     error_answer(410, "Expired"),
                     json_answer(pod_list(Json::array({pod_object("b", "2"), pod_object("c", "3")}), "12"))});
  int n_begun = 0;
  std::vector<std::string> names;
  const std::string version = scripted.client.list_each(
      kPods, {}, {.resource_version = "0"},
      [&] {
        ++n_begun;
        names.clear();
      },
      [&](const Json& pod) { names.push_back(key_of(pod).name); });
  EXPECT_EQ(version, "12");
  EXPECT_EQ(n_begun, 2);
  EXPECT_EQ(names, (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(request_line(scripted.script.requests()[0]), "GET /api/v1/pods?limit=500&resourceVersion=0");
  EXPECT_EQ(request_line(scripted.request()), "GET /api/v1/pods") << "all at once, as it is now";
}

TEST(Client, RefusesAListThatIsCutOrNone) {
  const auto failure = [](const std::string& answer) {
    Scripted scripted({answer});
    return failure_of<ConnectionError>([&] { scripted.client.list(kPods); });
  };
  const std::string list = pod_list(Json::array({pod_object("a", "1")}), "9").dump();
  EXPECT_NE(failure("HTTP/1.1 200 OK\r\n\r\n" + list.substr(0, list.size() - 5)).find("no whole list"),
            std::string::npos);
  EXPECT_NE(failure(json_answer(pod_object("a", "1"))).find("no whole list"), std::string::npos);
  EXPECT_NE(failure(json_answer(pod_list(Json::array({3}), "9"))).find("an item is no object"), std::string::npos);
}

TEST(Client, WatchesWhatHappens) {
  const HttpTestServer server([](const std::string& request, HttpTestConnection& connection) {
    EXPECT_EQ(
        request_line(request),
        "GET /api/v1/namespaces/astro/pods?watch=1&allowWatchBookmarks=true&resourceVersion=9&timeoutSeconds=300");
    const std::string events = event_line("ADDED", pod_object("a", "10")) +
                               event_line("MODIFIED", pod_object("a", "11")) +
                               event_line("DELETED", pod_object("a", "12")) + bookmark_line("15");
    connection.send(kStreamHead);
    for (std::size_t i = 0; i < events.size(); i += 7) connection.send(chunk(events.substr(i, 7)));
    connection.send(kStreamEnd);
  });
  Client client(access_to(server));
  std::vector<WatchEvent::Kind> kinds;
  std::string version;
  client.watch(kPods, {.in_namespace = "astro"}, {.resource_version = "9"}, [&](const WatchEvent& event) {
    kinds.push_back(event.kind);
    version = resource_version_of(event.object);
  });
  using enum WatchEvent::Kind;
  EXPECT_EQ(kinds, (std::vector{kAdded, kModified, kDeleted, kBookmark}));
  EXPECT_EQ(version, "15");
}

TEST(Client, ReportsThatAWatchIsTooOldInStatusAndStream) {
  const std::string status = json_answer(status_object(410, "Expired", "too old resource version: 1 (9)"), "410 Gone");
  const std::string in_stream = fmt::format(
      "{}{}{}", kStreamHead, chunk(event_line("ERROR", status_object(410, "Expired", "too old"))), kStreamEnd);
  for (const std::string& answer : {status, in_stream}) {
    Scripted scripted({answer});
    try {
      scripted.client.watch(kPods, {}, {.resource_version = "1"}, [](const WatchEvent&) {});
      ADD_FAILURE();
    } catch (const ApiError& error) {
      EXPECT_TRUE(error.is_gone());
    }
  }
}

TEST(Client, EndsAWatchThatIsSilentCutOrNoWatch) {
  const auto failure = [](const std::function<void(HttpTestConnection&)>& serve) {
    const HttpTestServer server([&](const std::string&, HttpTestConnection& connection) { serve(connection); });
    Client client(access_to(server), {.max_object_bytes = 1000});
    return failure_of<ConnectionError>(
        [&] { client.watch(kPods, {}, {.silence_seconds = 0.3}, [](const WatchEvent&) {}); });
  };
  const auto has = [](const std::string& message, const char* text) {
    EXPECT_NE(message.find(text), std::string::npos) << message;
  };
  has(failure([](HttpTestConnection& connection) {
        connection.send(kStreamHead);
        connection.send(chunk(bookmark_line("1")));
        connection.pause(60s);
      }),
      "nothing came for");
  has(failure([](HttpTestConnection& connection) {
        connection.send(kStreamHead);
        connection.send(chunk(bookmark_line("1").substr(0, 20)));
      }),
      "outstanding read data remaining");
  has(failure([](HttpTestConnection& connection) {
        connection.send(kStreamHead);
        for (int i = 0; i < 10000 && connection.send(chunk(std::string(100, ' '))); ++i) {
        }
      }),
      "an event has more than 1000 bytes");
  has(failure([](HttpTestConnection& connection) { connection.send(http_answer("200 OK", "<html>\n")); }),
      "an event is no JSON: '<html>'");
  has(failure([](HttpTestConnection& connection) { connection.send(http_answer("200 OK", "{\"type\":\"NEW\"}\n")); }),
      "an event without object");
  has(failure([](HttpTestConnection& connection) {
        connection.send(http_answer("200 OK", "{\"type\":\"NEW\",\"object\":{}}\n"));
      }),
      "an event of type 'NEW'");
}

TEST(Client, StopsAWatchAtOnce) {
  const HttpTestServer server([](const std::string&, HttpTestConnection& connection) {
    connection.send(kStreamHead);
    connection.send(chunk(bookmark_line("1")));
    connection.pause(60s);
  });
  Client client(access_to(server));
  std::stop_source stop;
  const Stopwatch watch;
  EXPECT_THROW(client.watch(
                   kPods, {}, {}, [&](const WatchEvent&) { stop.request_stop(); }, stop.get_token()),
               Interrupted);
  EXPECT_LT(watch.seconds(), 10);
}

TEST(Client, PassesOnWhatItsCallersThrow) {
  Scripted scripted({json_answer(pod_list(Json::array({pod_object("a", "1")}), "9"))});
  struct Mine {};
  EXPECT_THROW(scripted.client.list_each(
                   kPods, {}, {}, [] {}, [](const Json&) { throw Mine(); }),
               Mine);
  EXPECT_EQ(scripted.client.list(kPods).size(), 1U) << "and works on";
}

}  // namespace
}  // namespace podere::kube
