#include "podere/base/base64.h"

#include <gtest/gtest.h>

#include <string_view>

#include "podere/base/error.h"
#include "podere/base/hash.h"

namespace podere {
namespace {

std::string encode(std::string_view text) { return to_base64(std::as_bytes(std::span(text))); }

TEST(Base64, EncodesAsTheStandardHasIt) {
  EXPECT_EQ(encode(""), "");
  EXPECT_EQ(encode("f"), "Zg==");
  EXPECT_EQ(encode("fo"), "Zm8=");
  EXPECT_EQ(encode("foo"), "Zm9v");
  EXPECT_EQ(encode("foobar"), "Zm9vYmFy");
}

TEST(Base64, DecodesBytesOfAnyNumber) {
  for (const std::size_t n : {0UL, 1UL, 2UL, 3UL, 1000UL, (3UL << 20) - 1, 3UL << 20, (3UL << 20) + 1, 7UL << 20}) {
    std::vector<std::byte> bytes(n);
    for (std::size_t i = 0; i < n; ++i) bytes[i] = static_cast<std::byte>(mix64(i));
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes) << n;
  }
}

TEST(Base64, RefusesWhatIsNone) {
  for (const char* text : {"Z", "Zg", "Zg=", "Zg= ", " Zg==", "Zg==\n", "Z===", "====", "Zh==", "Zg==Zg==", "Zm9?"}) {
    EXPECT_THROW(from_base64(text), InputError) << text;
  }
}

}  // namespace
}  // namespace podere
