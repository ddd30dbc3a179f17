#include "podere/base/json_text.h"

#include <gtest/gtest.h>

#include <string>

namespace podere {
namespace {

TEST(JsonTextTest, NestingIsCountedOutsideOfStrings) {
  EXPECT_FALSE(is_nested_deeper_than(R"({"a": [1, [2]], "b": [3]})", 3));
  EXPECT_TRUE(is_nested_deeper_than(R"({"a": [1, [2]], "b": [3]})", 2));
  EXPECT_FALSE(is_nested_deeper_than(R"(["[[[[", "\"[[[[", "\\"])", 1));
  EXPECT_TRUE(is_nested_deeper_than(R"(["\\", [[)", 2));
  EXPECT_TRUE(is_nested_deeper_than(std::string(1'000'000, '['), kMaxJsonDepth));
  EXPECT_FALSE(is_nested_deeper_than("", 0));
  EXPECT_FALSE(is_nested_deeper_than("\"\\", 0));
}

}  // namespace
}  // namespace podere
