#include "podere/base/secret.h"

#include <gtest/gtest.h>

namespace podere {
namespace {

TEST(Tokens, AreLongAndNew) {
  const std::string token = random_token();
  EXPECT_EQ(token.size(), 48U);
  EXPECT_NE(token, random_token());
  EXPECT_TRUE(is_same_secret(token, token));
  EXPECT_FALSE(is_same_secret("", token));
  EXPECT_FALSE(is_same_secret(token.substr(1), token));
  std::string other = token;
  other.back() = other.back() == '0' ? '1' : '0';
  EXPECT_FALSE(is_same_secret(other, token));
}

}  // namespace
}  // namespace podere
