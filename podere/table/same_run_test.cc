#include "podere/table/same_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "podere/base/error.h"

namespace podere::table {
namespace {

TEST(SameRunTest, TheFirstColumnThatDiffersIsNamed) {
  const Schema was{.features = {"a", "b"}, .label = "y", .weight = {}, .categories = {{1, std::nullopt}}};
  const auto message = [&](auto change) {
    Schema is = was;
    change(is);
    return first_difference(was, is);
  };
  EXPECT_EQ(message([](Schema&) {}), "");
  EXPECT_EQ(message([](Schema& s) { s.features.emplace_back("c"); }), "the data had 2 features, have 3");
  EXPECT_EQ(message([](Schema& s) { s.features[1] = "c"; }), "feature 1 was 'b', is 'c'");
  EXPECT_EQ(message([](Schema& s) { s.label = "z"; }), "the label was 'y', is 'z'");
  EXPECT_EQ(message([](Schema& s) { s.weight = "w"; }), "the weight was none, is 'w'");
  EXPECT_EQ(message([](Schema& s) { s.pictures = "size=2x1"; }), "the form of pictures was none, is 'size=2x1'");
  EXPECT_EQ(message([](Schema& s) { s.categories.clear(); }), "the categories of the data are others");
}

TEST(SameRunTest, RowsDifferByLabelsWeightsAndTheirOrder) {
  const auto fingerprint_of = [](const std::vector<float>& labels, const std::vector<float>& weights) {
    Schema schema{.features = {"a"}, .label = "y"};
    if (!weights.empty()) schema.weight = "w";
    Table table(schema, labels.size(), {0, labels.size()});
    std::ranges::copy(labels, table.label().begin());
    std::ranges::copy(weights, table.weight().begin());
    return fingerprint_rows(table, comm::Communicator::self());
  };
  const DataFingerprint was = fingerprint_of({0, 1, 1}, {});
  EXPECT_LT(was.hash, std::uint64_t{1} << 53U);
  EXPECT_EQ(first_difference(was, fingerprint_of({0, 1, 1}, {1, 1, 1})), "");
  const std::string others = "labels, weights or the order of rows are others";
  EXPECT_EQ(first_difference(was, fingerprint_of({0, 1, 0}, {})), others);
  EXPECT_EQ(first_difference(was, fingerprint_of({1, 0, 1}, {})), others);
  EXPECT_EQ(first_difference(was, fingerprint_of({0, 1, 1}, {1, 1, 2})), others);
  EXPECT_EQ(first_difference(was, fingerprint_of({0, 1}, {})), "the data had 3 rows, have 2");
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
