#include "podere/tree/tree_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/json_fields.h"

namespace podere::tree {
namespace {

/// A tree is written column by column: one array for each member of its nodes.
template <typename T>
Json column(const Tree& tree, T Node::*member) {
  Json values = Json::array();
  for (const Node& node : tree.nodes) values.push_back(node.*member);
  return values;
}

template <typename T>
void read_list(const Json& json, const char* name, std::vector<T>& values) {
  values.resize(json.size());
  for (std::size_t i = 0; i < values.size(); ++i) read_json(json[i], name, values[i]);
}

template <typename T>
void read_column(const Json& json, const char* name, Tree& tree, T Node::*member) {
  const Json& values = json.at(name);
  if (values.size() != tree.nodes.size()) throw_input_error("a tree's '{}' has the wrong length", name);
  for (std::size_t i = 0; i < values.size(); ++i) read_json(values[i], name, tree.nodes[i].*member);
}

/// How many codes a feature has at most.
std::size_t n_codes(const table::Schema& schema, std::size_t feature) {
  const table::Dictionary& dictionary = schema.categories.at(feature);
  return dictionary ? dictionary->size() : table::kMaxCategories;
}

void check_category_set(const Tree& tree, const Node& node, const table::Schema& schema) {
  const auto feature = static_cast<std::size_t>(node.feature);
  if (schema.is_categorical(feature) != (node.category_set >= 0)) {
    throw InputError("a node splits categories by a threshold, or numbers by categories");
  }
  if (node.category_set < 0) return;
  if (static_cast<std::size_t>(node.category_set) >= tree.category_sets.size()) {
    throw InputError("a node's category set is not in its tree");
  }
  const std::vector<std::int32_t>& set = tree.category_sets[static_cast<std::size_t>(node.category_set)];
  const bool is_rising = std::ranges::adjacent_find(set, std::greater_equal()) == set.end();
  if (!is_rising || (!set.empty() && (set.front() < 0 || std::cmp_greater_equal(set.back(), n_codes(schema, feature)))))
    throw InputError("a category set has codes that do not rise or that its feature does not have");
}

void check_linear_part(const LinearPart& part, const table::Schema& schema) {
  const auto is_finite = [](double number) { return std::isfinite(number); };
  if (!is_finite(part.constant) || !std::ranges::all_of(part.coefficients, is_finite))
    throw InputError("a leaf's linear part has a number that is not finite");
  if (part.coefficients.size() != part.features.size())
    throw_input_error("a leaf's linear part has {} coefficients for {} features", part.coefficients.size(),
                      part.features.size());
  for (const std::int32_t feature : part.features) {
    const auto j = static_cast<std::size_t>(feature);
    if (feature < 0 || j >= schema.features.size() || schema.is_categorical(j))
      throw_input_error("a leaf's linear part has feature {}, which is not a numeric one of the schema", feature);
  }
}

}  // namespace

Json to_json(const Tree& tree) {
  Json json{{"feature", column(tree, &Node::feature)}, {"threshold", column(tree, &Node::threshold)},
            {"left", column(tree, &Node::left)},       {"missing_left", column(tree, &Node::missing_left)},
            {"value", column(tree, &Node::value)},     {"gain", column(tree, &Node::gain)},
            {"cover", column(tree, &Node::cover)}};
  if (!tree.category_sets.empty()) {
    json["category_set"] = column(tree, &Node::category_set);
    json["category_sets"] = tree.category_sets;
  }
  if (!tree.linear_parts.empty()) {
    json["linear_part"] = column(tree, &Node::linear_part);
    Json& parts = json["linear_parts"] = Json::array();
    for (const LinearPart& part : tree.linear_parts)
      parts.push_back({{"constant", part.constant}, {"features", part.features}, {"coefficients", part.coefficients}});
  }
  return json;
}

Tree tree_from_json(const Json& json) {
  Tree tree;
  tree.nodes.resize(json.at("feature").size());
  read_column(json, "feature", tree, &Node::feature);
  read_column(json, "threshold", tree, &Node::threshold);
  read_column(json, "left", tree, &Node::left);
  read_column(json, "missing_left", tree, &Node::missing_left);
  read_column(json, "value", tree, &Node::value);
  read_column(json, "gain", tree, &Node::gain);
  read_column(json, "cover", tree, &Node::cover);
  if (json.contains("category_sets")) {
    read_column(json, "category_set", tree, &Node::category_set);
    for (const Json& codes : json["category_sets"])
      read_list(codes, "category_sets", tree.category_sets.emplace_back());
  }
  if (json.contains("linear_parts")) {
    read_column(json, "linear_part", tree, &Node::linear_part);
    for (const Json& of_leaf : json["linear_parts"]) {
      LinearPart& part = tree.linear_parts.emplace_back();
      read_json(of_leaf.at("constant"), "constant", part.constant);
      read_list(of_leaf.at("features"), "features", part.features);
      read_list(of_leaf.at("coefficients"), "coefficients", part.coefficients);
    }
  }
  return tree;
}

void check_tree(const Tree& tree, const table::Schema& schema) {
  if (tree.nodes.empty()) throw InputError("a tree has no nodes");
  const auto n_nodes = static_cast<std::int64_t>(tree.nodes.size());
  for (std::int64_t i = 0; i < n_nodes; ++i) {
    const Node& node = tree.nodes[static_cast<std::size_t>(i)];
    if (!std::ranges::all_of(std::array{node.threshold, node.value, node.gain, node.cover},
                             [](float number) { return std::isfinite(number); }))
      throw InputError("a node has a number that is not finite");
    if (node.linear_part >= 0 &&
        (!node.is_leaf() || static_cast<std::size_t>(node.linear_part) >= tree.linear_parts.size()))
      throw InputError("a node's linear part is not in its tree, or the node is not a leaf");
    if (node.is_leaf()) continue;
    if (static_cast<std::size_t>(node.feature) >= schema.features.size())
      throw InputError("a node splits on a feature that is not in the schema");
    check_category_set(tree, node, schema);
    if (node.left <= i || std::int64_t{node.left} + 1 >= n_nodes)
      throw InputError("a node's children are not in its tree");
  }
  for (const LinearPart& part : tree.linear_parts) check_linear_part(part, schema);
}

}  // namespace podere::tree
