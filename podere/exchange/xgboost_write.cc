#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "podere/base/error.h"
#include "podere/base/json.h"
#include "podere/exchange/second_class.h"
#include "podere/exchange/ubjson.h"
#include "podere/exchange/xgboost.h"
#include "podere/exchange/xgboost_categories.h"
#include "podere/tree/objective.h"

namespace podere::exchange {
namespace {

using tree::Link;
using tree::Node;

/// The shortest text that is `value` to a reader of float32; the nearest float64 has many more digits.
double shortest(float value) {
  const std::string text = fmt::format("{}", value);
  double result = 0;
  std::from_chars(text.data(), text.data() + text.size(), result);
  return result;
}

/// One array of a tree: of_node(i, node) for every node.
template <typename OfNode>
Json column(const tree::Tree& tree, OfNode of_node) {
  Json values = Json::array();
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) values.push_back(of_node(tree.nodes[i]));
  return values;
}

/// Whether a node splits by a set that XGBoost can hold, which is never empty.
bool has_set(const tree::Tree& tree, const Node& node) {
  return !node.is_leaf() && node.category_set >= 0 &&
         !tree.category_sets[static_cast<std::size_t>(node.category_set)].empty();
}

/// Where a set is empty all codes go left, as numbers that are below the threshold.
float threshold_of(const Node& node) { return node.category_set >= 0 ? kAboveAllCodes : node.threshold; }

Json parents_of(const tree::Tree& tree) {
  constexpr std::int32_t kNone = 2147483647;  // as XGBoost has it for the root
  std::vector<std::int32_t> parents(tree.nodes.size(), kNone);
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    if (tree.nodes[i].is_leaf()) continue;
    const auto left = static_cast<std::size_t>(tree.nodes[i].left);
    parents[left] = parents[left + 1] = static_cast<std::int32_t>(i);
  }
  return parents;
}

/// What XGBoost keeps of sets of categories that go right: all sets one after another, and the nodes that have them.
Json categories_to_json(const tree::Tree& tree) {
  std::vector<std::int32_t> codes;
  std::vector<std::size_t> nodes, begins, sizes;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    if (!has_set(tree, tree.nodes[i])) continue;
    const auto& set = tree.category_sets[static_cast<std::size_t>(tree.nodes[i].category_set)];
    nodes.push_back(i);
    begins.push_back(codes.size());
    sizes.push_back(set.size());
    codes.insert(codes.end(), set.begin(), set.end());
  }
  return {
      {"categories", codes}, {"categories_nodes", nodes}, {"categories_segments", begins}, {"categories_sizes", sizes}};
}

/// `base` is added to the leaves.
Json to_json(const tree::Tree& tree, std::size_t id, std::size_t n_features, float base) {
  const auto value_of = [base](const Node& node) { return shortest(node.is_leaf() ? node.value + base : 0.0F); };
  Json json{
      {"base_weights", column(tree, value_of)},
      {"default_left", column(tree, [](const Node& node) { return node.missing_left ? 1 : 0; })},
      {"id", id},
      {"left_children", column(tree, [](const Node& node) { return node.is_leaf() ? -1 : node.left; })},
      {"loss_changes", column(tree, [](const Node& node) { return shortest(node.gain); })},
      {"parents", parents_of(tree)},
      {"right_children", column(tree, [](const Node& node) { return node.is_leaf() ? -1 : node.left + 1; })},
      {"split_conditions",
       column(tree, [&](const Node& node) { return node.is_leaf() ? value_of(node) : shortest(threshold_of(node)); })},
      {"split_indices", column(tree, [](const Node& node) { return node.is_leaf() ? 0 : node.feature; })},
      {"split_type", column(tree, [&](const Node& node) { return has_set(tree, node) ? 1 : 0; })},
      {"sum_hessian", column(tree, [](const Node& node) { return shortest(node.cover); })},
      {"tree_param",
       {{"num_deleted", "0"},
        {"num_feature", std::to_string(n_features)},
        {"num_nodes", std::to_string(tree.nodes.size())},
        {"size_leaf_vector", "0"}}}};
  json.update(categories_to_json(tree));
  return json;
}

Json objective_to_json(const tree::Options& options) {
  const tree::ObjectiveTraits& traits = traits_of(options.objective);
  Json json{{"name", traits.xgboost}};
  switch (traits.link) {
    case Link::kLogit:
    case Link::kIdentity:
    case Link::kProbability:
      json["reg_loss_param"] = {{"scale_pos_weight", "1"}};
      break;
    case Link::kLog:
      json["poisson_regression_param"] = {{"max_delta_step", fmt::format("{}", options.max_delta_step)}};
      break;
    case Link::kSoftmax:
      json["softmax_multiclass_param"] = {{"num_class", std::to_string(options.n_classes)}};
      break;
  }
  return json;
}

/// The base score that adds nothing to margins.
const char* neutral_base_score(Link link) { return link == Link::kLogit ? "5E-1" : link == Link::kLog ? "1E0" : "0E0"; }

Json trees_to_json(const tree::Model& model) {
  Json trees = Json::array();
  for (std::size_t t = 0; t < model.trees.size(); ++t) {
    // Predictions begin with the base margin as float32; adding it to the first leaf rounds as they do.
    const float base = t < model.n_outputs() ? static_cast<float>(model.base_margin[t]) : 0.0F;
    for (const Node& node : model.trees[t].nodes) {
      if (!std::isfinite(node.value + base)) throw InputError("a leaf and the base margin together are beyond float32");
    }
    trees.push_back(to_json(model.trees[t], t, model.schema.features.size(), base));
  }
  return trees;
}

Json xgboost_json(const tree::Model& model) {
  if (const auto numbers = second_class(model, "XGBoost")) return xgboost_json(*numbers);
  if (traits_of(model.options.objective).xgboost == nullptr)
    throw_input_error("has the objective {}, which XGBoost does not have: write it as podere, lightgbm or onnx",
                      to_string(model.options.objective));
  if (model.trees.empty()) throw InputError("the model has no trees, which XGBoost could not hold");
  if (has_linear_parts(model))
    throw InputError("the model has linear trees, which XGBoost does not have: write it as podere or lightgbm");
  const std::size_t n_features = model.schema.features.size();
  Json classes = Json::array();
  for (std::size_t t = 0; t < model.trees.size(); ++t) classes.push_back(t % model.n_outputs());
  std::vector<std::string> types(n_features, "float");
  for (const auto& [feature, texts] : model.schema.categories) types[feature] = "c";
  Json learner{
      {"attributes", Json::object()},
      {"feature_names", model.schema.features},
      {"feature_types", types},
      {"gradient_booster",
       {{"model",
         {{"gbtree_model_param",
           {{"num_parallel_tree", "1"}, {"num_trees", std::to_string(model.trees.size())}, {"size_leaf_vector", "0"}}},
          {"tree_info", classes},
          {"trees", trees_to_json(model)}}},
        {"name", "gbtree"}}},
      {"learner_model_param",
       {{"base_score", neutral_base_score(traits_of(model.options.objective).link)},
        {"boost_from_average", "1"},
        {"num_class", std::to_string(model.options.n_classes)},
        {"num_feature", std::to_string(n_features)},
        {"num_target", "1"}}},
      {"objective", objective_to_json(model.options)}};
  const bool has_texts =
      std::ranges::any_of(model.schema.categories, [](const auto& c) { return c.second.has_value(); });
  if (has_texts) learner["gradient_booster"]["model"]["cats"] = categories_to_xgboost(model.schema);
  return {{"learner", learner}, {"version", {1, 7, 0}}};
}

}  // namespace

std::string to_xgboost(const tree::Model& model) { return xgboost_json(model).dump() + "\n"; }

std::string to_xgboost_ubjson(const tree::Model& model) { return to_ubjson(xgboost_json(model)); }

}  // namespace podere::exchange
