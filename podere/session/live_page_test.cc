#include "podere/session/live_page.h"

#include <gtest/gtest.h>

#include <thread>

#include "podere/base/error.h"
#include "podere/http/get_for_tests.h"
#include "podere/session/command_page.h"
#include "podere/session/prometheus.h"

namespace podere::session {
namespace {

const std::string kName = "<script>alert(1)</script> \xe2\x80\xae";

Json status_of_one_job() {
  return {{"session", "s"},
          {"wanted", 2},
          {"least", 1},
          {"cores", 1},
          {"each", to_json({{.process = 7, .host = "node7", .memory_bytes = 1000, .phase = "train"}, {}})},
          {"tables", {{{"name", "a"}, {"rows", 10}, {"features", {"x", "y", "z"}}, {"classes", {"x"}}}}},
          {"waits_for", nullptr},
          {"jobs",
           {{{"job", 1},
             {"kind", "train"},
             {"name", kName},
             {"state", "running"},
             {"seconds", 0.5},
             {"progress", {{"phase", "train"}, {"done", 1}, {"total", 5}, {"unit", "tree"}}},
             {"message", ""}}}}};
}

/// "http://127.0.0.1:8650/" and "?token=..." of a link.
std::pair<std::string, std::string> parts_of(const std::string& link) {
  const std::size_t query = link.find('?');
  return {link.substr(0, query), link.substr(query)};
}

class LivePageTest : public testing::Test {
 protected:
  LivePageTest() {
    runs.begin(1, {kName, "train", "podere train gbt"});
    runs.report(1, {"train", 1, 5, {{"loss", 0.5}}});
  }

  report::LiveRuns runs;
  LivePage page{{.address = "127.0.0.1:0",
                 .status = status_of_one_job,
                 .metrics = [] { return SessionCounters().all()->Collect(); }},
                runs};
  const std::string url = parts_of(page.link()).first;
  const std::string token = parts_of(page.link()).second;
  const std::vector<std::string> bearer = {"Authorization: Bearer " + token.substr(std::string("?token=").size())};
};

TEST_F(LivePageTest, SaysNothingWithoutItsToken) {
  std::string other = bearer[0];
  other.back() = other.back() == '0' ? '1' : '0';
  for (const char* path :
       {"", "api/session", "api/runs/1", "api/openapi.json", "metrics", "x", "?token=", "?token=0"}) {
    for (const auto& headers : std::vector<std::vector<std::string>>{{}, {other}, {"Cookie: podere=1"}}) {
      const http::Got got = http::get(url + path, headers);
      EXPECT_EQ(got.status, 403) << path;
      EXPECT_EQ(got.body.find("node7"), std::string::npos);
    }
  }
}

TEST_F(LivePageTest, ALinkBecomesACookie) {
  const http::Got first = http::get(url + token);
  EXPECT_EQ(first.status, 302);
  EXPECT_NE(first.head.find("\r\nLocation: ./\r\n"), std::string::npos);
  const std::size_t begin = first.head.find("Set-Cookie: ") + 12;
  const std::string cookie = first.head.substr(begin, first.head.find("\r\n", begin) - begin);
  EXPECT_NE(cookie.find("HttpOnly; SameSite=Lax"), std::string::npos);
  EXPECT_EQ(cookie.find("Path"), std::string::npos);  // a proxy's path is the browser's to know
  const http::Got page_got = http::get(url, {"Cookie: " + cookie.substr(0, cookie.find(';'))});
  EXPECT_EQ(page_got.status, 200);
  EXPECT_NE(page_got.body.find(R"(id="podere-report">"live"</script>)"), std::string::npos);
  EXPECT_NE(page_got.body.find("connect-src 'self'"), std::string::npos);
  EXPECT_EQ(page_got.body.find("connect-src 'none'"), std::string::npos);
  EXPECT_NE(page_got.head.find("frame-ancestors 'none'"), std::string::npos);
}

TEST_F(LivePageTest, HasTheSessionAndItsRuns) {
  const Json session = Json::parse(http::get(url + "api/session", bearer).body);
  EXPECT_EQ(session.at("session"), "s");
  EXPECT_EQ(session.at("executors").at("ready"), 2);
  EXPECT_EQ(session.at("executors").at("each").at(0).at("memory_bytes"), 1000);
  EXPECT_EQ(session.at("executors").at("each").at(1), Json({{"executor", 1}}));
  EXPECT_EQ(session.at("tables"), Json::array({{{"name", "a"}, {"rows", 10}, {"columns", 3}}}));
  EXPECT_EQ(session.at("jobs").at(0).at("name"), kName);
  EXPECT_GT(session.at("jobs").at(0).at("revision"), 0);
  EXPECT_FALSE(session.at("ended"));
  const Json run = Json::parse(http::get(url + "api/runs/1", bearer).body);
  EXPECT_EQ(run.at("state"), "running");
  EXPECT_EQ(run.at("name"), kName);
  for (const char* job : {"2", "0", "-1", "1x", "", "99999999999999999999", "1/2"}) {
    EXPECT_EQ(http::get(url + "api/runs/" + job, bearer).status, 404) << job;
  }
  EXPECT_NE(http::get(url + "metrics", bearer).body.find("podere_executor_losses_total 0"), std::string::npos);
}

TEST_F(LivePageTest, SendsNothingTwice) {
  runs.end(1, {{"rows", 1}});
  const http::Got first = http::get(url + "api/runs/1", bearer);
  const std::size_t begin = first.head.find("ETag: ") + 6;
  const std::string tag = first.head.substr(begin, first.head.find("\r\n", begin) - begin);
  const http::Got second = http::get(url + "api/runs/1", {bearer[0], "If-None-Match: " + tag});
  EXPECT_EQ(second.status, 304);
  EXPECT_TRUE(second.body.empty());
}

TEST(LivePage, WaitsForABrowserToSeeTheEnd) {
  const report::LiveRuns runs;
  auto page =
      std::make_unique<LivePage>(LivePage::Options{.address = "127.0.0.1:0", .status = status_of_one_job}, runs);
  const auto [url, token] = parts_of(page->link());
  const std::string session = url + "api/session" + token;
  EXPECT_FALSE(Json::parse(http::get(session).body).at("ended"));
  std::jthread ends([&] { page.reset(); });
  bool saw_the_end = false;
  try {
    while (!saw_the_end) saw_the_end = Json::parse(http::get(session).body).at("ended");
  } catch (const Error&) {  // it has gone
  }
  EXPECT_TRUE(saw_the_end);
}

TEST(CommandPage, ShowsACommandAsASessionOfOneJob) {
  class Reader : public Progress {
   public:
    void warn(const std::string& message) override { lines.push_back(message); }
    std::vector<std::string> lines;
  } reader;
  CommandPage page("127.0.0.1:0", {"train m.json", "train", "podere train"}, {.n_executors = 2}, reader);
  EXPECT_EQ(reader.lines, std::vector<std::string>{"page: " + page.link()});
  page.report({"train", 2, 4, {{"loss", 0.5}}});
  const auto [url, token] = parts_of(page.link());
  Json session = Json::parse(http::get(url + "api/session" + token).body);
  EXPECT_TRUE(session.at("session").is_null());
  EXPECT_EQ(session.at("executors").at("wanted"), 2);
  EXPECT_EQ(session.at("jobs").at(0).at("state"), "running");
  EXPECT_EQ(session.at("jobs").at(0).at("progress").at("done"), 2);
  page.end({{"facts", {{"rows", 3}}}, {"model", "..."}, {"losses", Json::array()}, {"metrics", Json::object()}});
  session = Json::parse(http::get(url + "api/session" + token).body);
  EXPECT_EQ(session.at("jobs").at(0).at("state"), "done");
  page.fail("what fails after the result");
  EXPECT_EQ(Json::parse(http::get(url + "api/session" + token).body).at("jobs").at(0).at("state"), "done");
  const Json run = Json::parse(http::get(url + "api/runs/1" + token).body);
  EXPECT_EQ(run.at("result").at("rows"), 3);
  EXPECT_FALSE(run.at("result").contains("model"));
}

TEST(CommandPage, ShowsWhyACommandFailed) {
  Progress reader;
  for (const std::string cause : {"a.csv, line 3: 'x' is no number", ""}) {
    CommandPage page("127.0.0.1:0", {"train m.json", "train", "podere train"}, {}, reader);
    page.warn("lost executor 1; continuing");
    page.fail(cause);
    const auto [url, token] = parts_of(page.link());
    const Json job = Json::parse(http::get(url + "api/session" + token).body).at("jobs").at(0);
    EXPECT_EQ(job.at("message"), cause);
    EXPECT_EQ(job.at("state"), cause.empty() ? "cancelled" : "failed");
    EXPECT_EQ(Json::parse(http::get(url + "api/runs/1" + token).body).at("state"),
              cause.empty() ? "interrupted" : "failed");
  }
}

}  // namespace
}  // namespace podere::session
