#include "podere/farm/trace.h"

#include <gtest/gtest.h>

#include <variant>

#include "podere/base/error.h"

namespace podere::farm {
namespace {

constexpr const char* kNode = R"({"at": 0, "node": "n1", "cpu": 8, "memory": 32})"
                              "\n";
constexpr const char* kFarm = R"({"at": 1, "farm": "a/a", "guaranteed": 2, "wanted": 3, "executor": {"cpu": 0.5}})"
                              "\n";

std::string refused(const std::string& text) {
  try {
    parse_trace(text, "t.jsonl");
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(Trace, SaysWhatHappens) {
  const Trace trace = parse_trace(std::string("# a comment\n\n{\"model\": {\"until\": 50}}\n") + kNode + kFarm +
                                      R"({"at": 9, "farm": "a/a", "wanted": 7})",
                                  "t.jsonl");
  EXPECT_EQ(trace.model.until, 50);
  ASSERT_EQ(trace.events.size(), 3U);
  EXPECT_EQ(std::get<NodeEvent>(trace.events[0].what).allocatable, (Resources{{8000, std::int64_t{32} << 30}}));
  const auto& farm = std::get<FarmEvent>(trace.events[2].what);
  EXPECT_EQ(farm.farm.wanted, 7);
  EXPECT_EQ(farm.farm.guaranteed, 2) << "what is left out is as it was";
  EXPECT_EQ(farm.executor.requests, (Resources{{500}}));
}

TEST(Trace, IsTheSameWrittenAndReadAgain) {
  for (const double adopted : {0.0, 0.5}) {
    const Trace trace = random_trace({.farms = 5, .nodes = 3, .hours = 1, .adopted = adopted, .mixes_shapes = true});
    EXPECT_GT(trace.events.size(), 8U);
    EXPECT_EQ(trace_text(parse_trace(trace_text(trace), "t")), trace_text(trace));
  }
}

TEST(Trace, IsRefusedWithFileAndLine) {
  const std::string node = kNode;
  EXPECT_EQ(refused("{\"at\": 0}"), "t.jsonl:1: an event is of a 'node' or of a 'farm'");
  EXPECT_EQ(refused("\nhello\n"), "t.jsonl:2: 'hello' is not a JSON object");
  EXPECT_EQ(refused(node + R"({"at": 1, "node": "n2", "at": 2})"), "t.jsonl:2: 'at' is given twice");
  EXPECT_EQ(refused(node + R"({"at": -1, "node": "n2"})"),
            "t.jsonl:2: 'at' is -1, which is not from 0 to 1e+09 seconds");
  EXPECT_EQ(refused(std::string(kFarm) + kNode), "t.jsonl:2: 0 s comes after 1 s");
  EXPECT_EQ(refused(node + R"({"at": 1, "farm": "a", "wnated": 2, "executor": {}})"),
            "t.jsonl:2: 'wnated' is none of the names there are; 'wanted' is");
  EXPECT_EQ(refused(node + R"({"at": 1, "farm": "a", "wanted": 2})"), "t.jsonl:2: farm 'a' has no 'executor'");
  EXPECT_EQ(refused(node + R"({"at": 1, "farm": "a", "guaranteed": 3, "maximum": 2, "executor": {}})"),
            "t.jsonl:2: 'maximum' is 2, which is less than the 3 guaranteed");
  EXPECT_EQ(refused(node + R"({"at": 1, "farm": "a", "wanted": 2.5, "executor": {}})"),
            "t.jsonl:2: wanted must be a whole number, it is 2.5");
  EXPECT_EQ(refused(node + R"({"at": 1, "farm": "a", "wanted": -2, "executor": {}})"),
            "t.jsonl:2: 'wanted' is -2, which is not from 0 to 100000");
  EXPECT_EQ(refused(node + R"({"at": 1, "farm": "a", "executor": {"cpu": -2}})"),
            "t.jsonl:2: 'cpu' is -2, which is not an amount from 0 to 1099511627.776");
  EXPECT_EQ(refused(node + R"({"at": 1, "node": "n2", "gone": true})"), "t.jsonl:2: node 'n2' was never there");
  EXPECT_EQ(refused(node + R"({"at": 1, "farm": "a", "executor": {"nodes": ["n9"]}})"),
            "t.jsonl: an executor may run on node 'n9', which never comes");
  EXPECT_EQ(refused("# nothing\n"), "t.jsonl: there are no events");
  EXPECT_NE(refused(node + R"({"at": 1, "node": "n2", "a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1, "g": 1})"), "");
}

}  // namespace
}  // namespace podere::farm
