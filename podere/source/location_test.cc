#include "podere/source/location.h"

#include <gtest/gtest.h>

#include <string>

#include "podere/base/error.h"

namespace podere::source {
namespace {

TEST(Location, IsASchemeWithAPathAndAQuery) {
  EXPECT_EQ(parse_location("collider:1e6?seed=3"), (Location{"collider", "1e6", "seed=3"}));
  EXPECT_EQ(parse_location("collider:12"), (Location{"collider", "12", ""}));
  EXPECT_EQ(parse_location("table:a?b"), (Location{"table", "a?b", ""}));
}

TEST(Location, IsThePathOfAFileOtherwise) {
  for (const char* text :
       {"higgs.csv", "/data/a?b.csv", "foo:bar", "c:\\a.csv", "c://a", ":", "", "table", "9p://a", "a b://c"}) {
    EXPECT_EQ(parse_location(text), (Location{"file", text, ""})) << text;
  }
}

TEST(Location, OfASchemeThatIsNotKnownIsRefused) {
  try {
    parse_location("s3://bucket/a.csv");
    FAIL() << "it was not refused";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()),
              "s3://bucket/a.csv: scheme 's3' is not known; allowed are a path, collider:, images:, sem:, table:");
  }
}

TEST(Location, OfAKeptTableHasItsName) {
  EXPECT_EQ(kept_name("table:a"), "a");
  EXPECT_EQ(kept_name("a.csv"), std::nullopt);
}

}  // namespace
}  // namespace podere::source
