#include "podere/tree/constraints.h"

#include <gtest/gtest.h>

#include <set>

#include "podere/tree/test_training.h"

namespace podere::tree {
namespace {

using Signs = std::vector<std::int8_t>;
using Sets = std::vector<std::vector<std::uint32_t>>;

Constraints resolve(const char* monotone, const char* interactions) {
  const table::Schema schema{.features = {"a", "2", "c:d", "e"}};
  return resolve_constraints({.monotone = monotone, .interactions = interactions}, schema);
}

TEST(ConstraintsTest, FeaturesAreFoundByNameFirstThenByPosition) {
  EXPECT_EQ(resolve("2:+1,0:-1", "").monotone, (Signs{-1, 1, 0, 0}));
  EXPECT_EQ(resolve("c:d:1,e:0", "").monotone, (Signs{0, 0, 1, 0}));
  EXPECT_EQ(resolve("", "").monotone, Signs());
  EXPECT_EQ(resolve("e:0", "").monotone, Signs());
}

TEST(ConstraintsTest, FeaturesInNoSetAreAlone) {
  EXPECT_EQ(resolve("", "a,2,a;2,3").sets_of, (Sets{{0}, {0, 1}, {2}, {1}}));
  EXPECT_TRUE(resolve("", "").sets_of.empty());
}

TEST(ConstraintsTest, OnlySetsWithAllFeaturesAboveStayOpen) {
  const Constraints constraints = resolve("", "a,2;2,e");
  const OpenSets below_2 = sets_below(constraints, std::nullopt, 1);
  EXPECT_EQ(below_2, (OpenSets{{0, 1}}));
  const OpenSets below_a = sets_below(constraints, below_2, 0);
  EXPECT_EQ(below_a, (OpenSets{{0}}));
  EXPECT_EQ(sets_below(constraints, below_a, 3), OpenSets(std::in_place));  // a and e in no set
  EXPECT_EQ(sets_below(resolve("", ""), std::nullopt, 1), std::nullopt);
}

/// Expects the features on each path of the model to be among one of `sets`.
void expect_paths_within(const Model& model, const std::vector<std::set<std::int32_t>>& sets) {
  std::set<std::set<std::int32_t>> seen;
  for (const Tree& tree : model.trees) {
    std::vector<std::set<std::int32_t>> above(tree.nodes.size());
    for (std::size_t n = 0; n < tree.nodes.size(); ++n) {
      const Node& node = tree.nodes[n];
      if (node.is_leaf()) {
        seen.insert(above[n]);
        EXPECT_TRUE(std::ranges::any_of(sets, [&](const auto& set) { return std::ranges::includes(set, above[n]); }));
        continue;
      }
      above[n].insert(node.feature);
      for (const int child : {node.left, node.left + 1}) above[static_cast<std::size_t>(child)] = above[n];
    }
  }
  EXPECT_GT(seen.size(), sets.size());  // sets are used in full and in part
}

TEST(ConstraintsTest, PathsStayWithinTheSets) {
  for (const bool best_first : {false, true}) {
    const table::Table table = random_table({.has_missing = true}, alone());
    const Options options{.n_trees = 30,
                          .depth = 5,
                          .max_leaves = best_first ? 16 : 0,
                          .best_first = best_first,
                          .interactions = "x0,x1;x1,2,x3;x5,x6"};
    const Model model = train_alone(table, options);
    expect_paths_within(model, {{0, 1}, {1, 2, 3}, {4}, {5, 6}});
  }
}

TEST(ConstraintsTest, OneSetOfAllFeaturesIsNoConstraint) {
  const table::Table table = random_table({}, alone());
  const auto trees_with = [&](const char* interactions) {
    const Options options{.n_trees = 3, .depth = 5, .interactions = interactions};
    return train_alone(table, options).trees;
  };
  EXPECT_EQ(trees_with("x0,x1,x2,x3,x4,x5,x6"), trees_with(""));
}

}  // namespace
}  // namespace podere::tree
