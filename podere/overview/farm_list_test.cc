#include "podere/overview/farm_list.h"

#include <gtest/gtest.h>

#include <string>

#include "podere/base/error.h"
#include "podere/kube/farm_kinds.h"
#include "podere/kube/test_api.h"

namespace podere::overview {
namespace {

/// A cluster whose operator gives every question this status, or, if that is null, none.
class WhatIfTest : public testing::Test {
 protected:
  std::string refusal_of(const Question& question) {
    try {
      ask_what_if(client_, question);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }

  kube::Json status_;
  std::string to_create_;  // what is answered instead
  std::string to_delete_;
  std::string asked_;  // the object of the question
  int n_deleted_ = 0;
  HttpTestServer server_{[this](const std::string& request) {
    kube::Json what_if = kube::object_of(kube::kWhatIfs, {"hep", "what-if-1"});
    if (request.starts_with("POST ")) {
      asked_ = kube::body_of(request);
      return to_create_.empty() ? kube::json_answer(what_if) : to_create_;
    }
    if (request.starts_with("DELETE ")) {
      ++n_deleted_;
      return to_delete_.empty() ? kube::json_answer({{"kind", "Status"}}) : to_delete_;
    }
    if (!status_.is_null()) what_if["status"] = status_;
    return kube::json_answer(what_if);
  }};
  kube::Client client_{kube::access_to(server_)};
};

TEST_F(WhatIfTest, IsAnObjectThatTheOperatorAnswersAndThatDoesNotStay) {
  status_ = {{"text", "hep/cms wants 3 executors now:\n"}, {"answer", {{"executors", 3}}}};
  const Json answer = ask_what_if(client_, {.farm = {"hep", "cms"}, .executors = 3, .mode = "FairShare"});
  EXPECT_EQ(to_text(answer), R"({"text":"hep/cms wants 3 executors now:\n","answer":{"executors":3}})");
  EXPECT_EQ(kube::Json::parse(asked_).at("spec"),
            kube::Json({{"farm", "cms"}, {"executors", 3}, {"mode", "FairShare"}}));
  EXPECT_EQ(n_deleted_, 1);
}

TEST_F(WhatIfTest, IsRefusedInTheOperatorsWords) {
  status_ = {{"error", "there is no farm 'hep/cms'"}};
  EXPECT_EQ(refusal_of({.farm = {"hep", "cms"}}), "there is no farm 'hep/cms'");
  EXPECT_EQ(n_deleted_, 1);
}

TEST_F(WhatIfTest, WithoutAnOperatorEndsInTime) {
  const std::string words = refusal_of({.farm = {"hep", "cms"}, .patience_seconds = 0.1});
  EXPECT_TRUE(words.starts_with("no operator answers for namespace hep (context 'test' of a test)")) << words;
  EXPECT_EQ(n_deleted_, 1);
}

TEST_F(WhatIfTest, ThatCannotBeDeletedHidesNothing) {
  to_delete_ = kube::error_answer(403, "Forbidden");
  const std::string words = refusal_of({.farm = {"hep", "cms"}, .patience_seconds = 0.1});
  EXPECT_TRUE(words.starts_with("no operator answers")) << words;
  status_ = {{"text", "lines"}, {"answer", kube::Json::object()}};
  EXPECT_EQ(ask_what_if(client_, {.farm = {"hep", "cms"}}).at("text"), "lines");
  EXPECT_EQ(n_deleted_, 2);
}

TEST_F(WhatIfTest, ThatMayNotBeAskedSaysWhoGivesTheRight) {
  to_create_ = kube::error_answer(403, "Forbidden");
  EXPECT_TRUE(refusal_of({.farm = {"hep", "cms"}}).starts_with("you may not ask about farms of namespace hep"));
  to_create_ = kube::error_answer(404, "NotFound");
  EXPECT_NE(refusal_of({.farm = {"hep", "cms"}}).find("there is no namespace hep, or"), std::string::npos);
}

}  // namespace
}  // namespace podere::overview
