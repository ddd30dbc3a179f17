#include "podere/base/written_json.h"

#include <gtest/gtest.h>

#include <string>

#include "podere/base/error.h"

namespace podere {
namespace {

std::string refusal_of_written(std::string_view text) {
  try {
    parse_written_object(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(WrittenJson, IsAnObject) {
  EXPECT_EQ(parse_written_object(R"( {"b": [1, {"a": 2}], "a": {"a": 3, "b": null}} )").dump(),
            R"({"b":[1,{"a":2}],"a":{"a":3,"b":null}})");
  for (const char* const text : {"", "[]", "{", "{} {}", "1", "null"}) {
    EXPECT_EQ(refusal_of_written(text), std::string("'") + text + "' is not a JSON object");
  }
  EXPECT_EQ(refusal_of_written(std::string(100000, '[')), "is nested too deep");
}

TEST(WrittenJson, HasNoMemberTwice) {
  EXPECT_EQ(refusal_of_written(R"({"a": 1, "b": 2, "a": 1})"), "'a' is given twice");
  EXPECT_EQ(refusal_of_written(R"({"a": [{"b": 1}, {"b": {"c": 1, "c": 1}}]})"), "'c' is given twice");
  EXPECT_EQ(refusal_of_written(R"({"a": {"b": 1}, "\u0061": 2})"), "'a' is given twice") << "however it is written";
  EXPECT_EQ(refusal_of_written(R"({"a": {"a": [{"a": 1}, {"a": 1}]}, "b": {"a": 1}})"), "nothing was refused");
}

}  // namespace
}  // namespace podere
