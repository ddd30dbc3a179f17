// Trees whose nodes lie in any order, as other programs keep them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "podere/tree/model.h"

namespace podere::exchange {

/// A node with its children anywhere. Of `node` all but `left` counts.
struct LooseNode {
  tree::Node node;
  std::int64_t left = -1;
  std::int64_t right = -1;
};

/// The float32 t such that x < t is x <= `threshold` for every float32 x. `threshold` is below the largest float32.
float strict_threshold(double threshold);

/// Makes a split whose left side has all numbers one that Podere has, whose thresholds are finite: all numbers go right
/// from the least one, missing values as before.
void part_missing(LooseNode& loose);

/// The nodes that can be reached from nodes[0], in Podere's order: level by level, brothers side by side.
/// Throws InputError if a child is not among the nodes or is reached twice.
std::vector<tree::Node> in_order(std::span<const LooseNode> nodes);

/// The features that trees split by categories. Throws InputError for one that is split by numbers too.
std::map<std::size_t, table::Dictionary> categorical_features(std::span<const tree::Tree> trees);

/// Edges from the root to the deepest leaf.
int depth(const tree::Tree& tree);

/// Options that fit a model which was trained elsewhere: rounds, classes and depth (30 if it is deeper) are its own.
tree::Options options_of(tree::Objective objective, int n_classes, std::span<const tree::Tree> trees);

/// f0, f1, ...: the names of features that have none.
std::vector<std::string> made_up_names(std::size_t n);

}  // namespace podere::exchange
