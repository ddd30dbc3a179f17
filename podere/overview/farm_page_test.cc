#include "podere/overview/farm_page.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "podere/http/get_for_tests.h"
#include "podere/kube/farm_kinds.h"
#include "podere/kube/test_api.h"
#include "podere/overview/farm_facts.h"

namespace podere::overview {
namespace {

kube::Json cms() {
  return {{"metadata", {{"namespace", "hep"}, {"name", "cms"}}},
          {"spec", {{"minExecutors", 2}}},
          {"status", {{"executors", 2}, {"running", 2}}}};
}

class FarmPageTest : public testing::Test {
 protected:
  std::atomic<int> n_lists_ = 0;
  std::atomic<int> n_questions_ = 0;
  HttpTestServer cluster_{[this](const std::string& request) {
    if (request.find("/whatifs") == std::string::npos) {
      ++n_lists_;
      return kube::json_answer(kube::pod_list(kube::Json::array({cms()}), "1"));
    }
    n_questions_ += request.starts_with("POST ");
    kube::Json what_if = kube::object_of(kube::kWhatIfs, {"hep", "what-if-1"});
    what_if["status"] = {{"text", "lines"}, {"answer", {{"executors", 3}}}};
    return kube::json_answer(what_if);
  }};
  kube::Client client_{kube::access_to(cluster_)};
  FarmPage page_{client_, "hep", Json::array({farm_facts(cms())}), "127.0.0.1:0"};
  const int n_lists_to_begin_ = n_lists_;
  const std::string url_ = page_.link().substr(0, page_.link().find('?'));
  const std::string token_ = page_.link().substr(page_.link().find('=') + 1);
  const std::string bearer_ = "Authorization: Bearer " + token_;
};

TEST_F(FarmPageTest, BeginsWithTheFarmsThatWereRead) {
  const Json state = Json::parse(http::get(url_ + "api/farms", {bearer_}).body);
  EXPECT_EQ(n_lists_to_begin_, 0);
  EXPECT_EQ(state.at("farms").at(0).at("name"), "cms");
  EXPECT_EQ(state.at("farms").at(0).at("history").at(0).at(1), 2);
}

TEST_F(FarmPageTest, DescribesItsApi) {
  const Json api = Json::parse(http::get(url_ + "api/openapi.json", {bearer_}).body);
  EXPECT_EQ(api.at("info").at("title"), "Podere: farms of a cluster");
  EXPECT_TRUE(api.at("paths").contains("/api/what-if"));
  EXPECT_TRUE(api.at("components").at("schemas").contains("Farm"));
  EXPECT_TRUE(api.at("components").at("responses").contains("Failure"));
}

/// A page of another port of this machine is another origin of the same site: browsers send the cookie for it.
TEST_F(FarmPageTest, AsksWhatIfForItselfAndForProgramsAlone) {
  const std::string head = http::get(page_.link()).head;
  const std::size_t begin = head.find("Set-Cookie: ") + 12;
  const std::string cookie = "Cookie: " + head.substr(begin, head.find(';', begin) - begin);
  const std::string what_if = url_ + "api/what-if?farm=hep/cms&executors=3";
  for (const std::vector<std::string>& headers :
       std::vector<std::vector<std::string>>{{cookie},
                                             {cookie, "Sec-Fetch-Site: same-site"},
                                             {cookie, "Sec-Fetch-Site: cross-site"},
                                             {cookie, "Sec-Fetch-Site: none"},
                                             {cookie, "Authorization: Bearer 0"},
                                             {"Sec-Fetch-Site: same-origin"}}) {
    EXPECT_EQ(http::get(what_if, headers).status, 403) << headers.back();
    EXPECT_EQ(http::get(what_if + "&token=0", headers).status, 403) << headers.back();
    EXPECT_EQ(n_questions_, 0) << headers.back();
  }
  EXPECT_EQ(http::get(url_ + "api/farms", {cookie}).status, 200);
  EXPECT_EQ(http::get(what_if, {cookie, "Sec-Fetch-Site: same-origin"}).body,
            R"({"text":"lines","answer":{"executors":3}})");
  EXPECT_EQ(http::get(what_if, {bearer_}).status, 200);
  EXPECT_EQ(http::get(what_if + "&token=" + token_).status, 200);
  EXPECT_EQ(n_questions_, 3);
}

}  // namespace
}  // namespace podere::overview
