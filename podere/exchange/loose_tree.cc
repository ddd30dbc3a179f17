#include "podere/exchange/loose_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "podere/base/error.h"
#include "podere/tree/objective.h"

namespace podere::exchange {

float strict_threshold(double threshold) {
  constexpr float kMost = std::numeric_limits<float>::max();
  if (threshold < -kMost) return -kMost;
  const auto nearest = static_cast<float>(threshold);
  return nearest > threshold ? nearest : std::nextafter(nearest, kMost);
}

void part_missing(LooseNode& loose) {
  std::swap(loose.left, loose.right);
  loose.node.threshold = std::numeric_limits<float>::lowest();
  loose.node.missing_left = !loose.node.missing_left;
}

std::vector<tree::Node> in_order(std::span<const LooseNode> nodes) {
  constexpr std::size_t kMost = std::numeric_limits<std::int32_t>::max();
  if (nodes.empty()) throw InputError("a tree has no nodes");
  if (nodes.size() > kMost) throw_input_error("a tree has {} nodes, allowed are at most {}", nodes.size(), kMost);
  std::vector<std::size_t> order{0};  // also the queue
  std::vector<bool> is_reached(nodes.size());
  is_reached[0] = true;
  const auto reach = [&](std::int64_t child) {
    const auto i = static_cast<std::size_t>(child);
    if (child < 0 || i >= nodes.size()) throw_input_error("a node's child is node {} of {}", child, nodes.size());
    if (is_reached[i]) throw_input_error("node {} is the child of two nodes", child);
    is_reached[i] = true;
    order.push_back(i);
  };
  std::vector<tree::Node> result;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const LooseNode& loose = nodes[order[k]];
    tree::Node node = loose.node;
    if (!node.is_leaf()) {
      node.left = static_cast<std::int32_t>(order.size());
      reach(loose.left);
      reach(loose.right);
    }
    result.push_back(node);
  }
  return result;
}

std::map<std::size_t, table::Dictionary> categorical_features(std::span<const tree::Tree> trees) {
  std::map<std::size_t, bool> is_categorical;
  for (const tree::Tree& tree : trees) {
    for (const tree::Node& node : tree.nodes) {
      if (node.is_leaf()) continue;
      const auto feature = static_cast<std::size_t>(node.feature);
      if (is_categorical.emplace(feature, node.category_set >= 0).first->second != (node.category_set >= 0))
        throw_input_error("feature {} is split by numbers and by categories", feature);
    }
  }
  std::map<std::size_t, table::Dictionary> features;
  for (const auto& [feature, is] : is_categorical) {
    if (is) features.emplace(feature, std::nullopt);
  }
  return features;
}

int depth(const tree::Tree& tree) {
  std::vector<int> depth_of(tree.nodes.size());
  int deepest = 0;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {  // parents come first
    deepest = std::max(deepest, depth_of[i]);
    if (tree.nodes[i].is_leaf()) continue;
    const auto left = static_cast<std::size_t>(tree.nodes[i].left);
    depth_of[left] = depth_of[left + 1] = depth_of[i] + 1;
  }
  return deepest;
}

tree::Options options_of(tree::Objective objective, int n_classes, std::span<const tree::Tree> trees) {
  tree::Options options;
  options.objective = objective;
  options.n_classes = traits_of(objective).has_output_per_class() ? n_classes : 0;
  options.n_trees = static_cast<int>(trees.size()) / std::max(1, options.n_classes);
  options.depth = 1;
  for (const tree::Tree& tree : trees) options.depth = std::clamp(depth(tree), options.depth, tree::kMaxDepth);
  validate(options);
  return options;
}

std::vector<std::string> made_up_names(std::size_t n) {
  std::vector<std::string> names;
  for (std::size_t j = 0; j < n; ++j) names.push_back("f" + std::to_string(j));
  return names;
}

}  // namespace podere::exchange
