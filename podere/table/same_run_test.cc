#include "podere/table/same_run.h"

#include <gtest/gtest.h>

#include "podere/base/error.h"

namespace podere::table {
namespace {

TEST(SameRunTest, ColumnsAreToldByTheFirstThatDiffers) {
  const Schema was{.features = {"a", "b"}, .label = "y", .weight = {}, .categories = {{1, std::nullopt}}};
  const auto told = [&](auto change) {
    Schema is = was;
    change(is);
    return first_difference(was, is);
  };
  EXPECT_EQ(told([](Schema&) {}), "");
  EXPECT_EQ(told([](Schema& s) { s.features.emplace_back("c"); }), "the data had 2 features, have 3");
  EXPECT_EQ(told([](Schema& s) { s.features[1] = "c"; }), "feature 1 was 'b', is 'c'");
  EXPECT_EQ(told([](Schema& s) { s.label = "z"; }), "the label was 'y', is 'z'");
  EXPECT_EQ(told([](Schema& s) { s.weight = "w"; }), "the weight was none, is 'w'");
  EXPECT_EQ(told([](Schema& s) { s.categories.clear(); }), "the categories of the data are others");
}

TEST(SameRunTest, AnotherRunIsRefusedWithWhatDiffers) {
  check_same_run("");
  try {
    check_same_run("depth was 6, is 8");
    FAIL() << "nothing was refused";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "the checkpoint is of another run: depth was 6, is 8; give the same, or another file for checkpoints");
  }
}

}  // namespace
}  // namespace podere::table
