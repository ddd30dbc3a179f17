#include "podere/controller/what_ifs.h"

#include <gtest/gtest.h>

#include <mutex>

#include "podere/controller/test_objects.h"
#include "podere/kube/test_api.h"

namespace podere::controller {
namespace {

/// A cluster of one node with a farm, and an API server that notes what is written.
class WhatIfsTest : public testing::Test {
 protected:
  WhatIfsTest() {
    Json farm = test_farm("stars", "astro", 0, 2);
    farm["status"] = {{"asOf", time_text(kTestNow)}};
    stores_.farms.put(farm);
    stores_.nodes.put(test_node("n1", 4));
  }

  static Json question(const std::string& name, const std::string& farm, double age = 0) {
    return {{"metadata",
             {{"namespace", "stars"},
              {"name", name},
              {"uid", "uid-" + name},
              {"resourceVersion", "1"},
              {"creationTimestamp", time_text(kTestNow - age)}}},
            {"spec", {{"farm", farm}, {"executors", 3}}}};
  }

  double answer(std::vector<std::string> namespaces = {}) {
    const Stores some(
        needs_, [] {}, std::move(namespaces));
    WhatIfs what_ifs(writer_, some.is_looked_after("stars") ? stores_ : some, [](const std::string&) {});
    return what_ifs.answer(questions_.all(), kTestNow);
  }

  std::mutex mutex_;
  std::vector<std::string> deleted_;
  std::vector<Json> written_;
  HttpTestServer server_{[this](const std::string& request) {
    const std::scoped_lock lock(mutex_);
    const Json body = Json::parse(kube::body_of(request));
    if (request.starts_with("DELETE")) {
      deleted_.push_back(body.at("preconditions").at("uid"));
    } else {
      written_.push_back(body.at("status"));
    }
    return kube::json_answer(body);
  }};
  kube::Client client_{kube::access_to(server_), {.max_retries = 0}};
  Metrics metrics_;
  Writer writer_{client_, [] { return true; }, metrics_};
  NeedsTable needs_;
  Stores stores_{needs_, [] {}};
  kube::Store<Question> questions_{question_of};
};

TEST_F(WhatIfsTest, AreAnsweredInTheStatus) {
  questions_.put(question("a", "astro"));
  EXPECT_LE(answer(), 61) << "then it is deleted";
  ASSERT_EQ(written_.size(), 1U);
  EXPECT_EQ(written_[0].at("answer").at("farm"), "stars/astro");
  EXPECT_EQ(written_[0].at("answer").at("at_once"), 3);
  EXPECT_FALSE(written_[0].at("text").get<std::string>().empty());
  EXPECT_TRUE(deleted_.empty());
}

TEST_F(WhatIfsTest, OfAFarmThatIsNotThereAreAnsweredWithAnError) {
  questions_.put(question("a", "astra"));
  answer();
  EXPECT_EQ(written_.at(0).at("error"), "there is no farm 'stars/astra'; there is 'stars/astro'");
}

TEST_F(WhatIfsTest, ThatWereNotFetchedAreDeleted) {
  Json old = question("old", "astro", 61);
  old["status"] = {{"error", "x"}};
  questions_.put(old);
  Json answered = question("answered", "astro", 30);
  answered["status"] = {{"error", "x"}};
  questions_.put(answered);
  EXPECT_NEAR(answer(), 31, 1);
  EXPECT_EQ(deleted_, std::vector<std::string>{"uid-old"});
  EXPECT_TRUE(written_.empty());
}

TEST_F(WhatIfsTest, AreAnsweredAFewAtATime) {
  for (int i = 0; i < 25; ++i) questions_.put(question("q" + std::to_string(i), "astro"));
  EXPECT_EQ(answer(), 1);
  EXPECT_EQ(written_.size(), 10U);
}

TEST_F(WhatIfsTest, OfNamespacesThatAreNotLookedAfterAreLeft) {
  questions_.put(question("a", "astro"));
  EXPECT_EQ(answer({"cells"}), kNever);
  EXPECT_TRUE(written_.empty());
}

}  // namespace
}  // namespace podere::controller
