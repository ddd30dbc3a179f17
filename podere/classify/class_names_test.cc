#include "podere/classify/class_names.h"

#include <gtest/gtest.h>

namespace podere::classify {
namespace {

std::string repeated(std::vector<std::string> names) { return repeated_names(names); }

TEST(ClassNames, ThoseOfSeveralClassesAreNamedWithTheirLines) {
  EXPECT_EQ(repeated({"a", "b", "c"}), "");
  EXPECT_EQ(repeated({"b", "a", "b", "a"}), "'b' is in the lines 1 and 3, 'a' is in the lines 2 and 4");
  EXPECT_EQ(repeated({"a", "a", "a"}), "'a' is in the lines 1, 2 and 3");
  EXPECT_EQ(repeated({"a", "a", "a", "a", "a", "a"}), "'a' is in the lines 1, 2, 3, 4, ... and 6");
  EXPECT_EQ(
      repeated({"a", "a", "b", "b", "c", "c", "d", "d", "e", "e"}),
      "'a' is in the lines 1 and 2, 'b' is in the lines 3 and 4, 'c' is in the lines 5 and 6, 'd' is in the lines "
      "7 and 8, ... (5 names)");
}

}  // namespace
}  // namespace podere::classify
