#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/json.h"
#include "podere/exchange/lightgbm.h"
#include "podere/exchange/objectives.h"
#include "podere/exchange/second_class.h"
#include "podere/tree/objective.h"

namespace podere::exchange {
namespace {

using tree::Link;
using tree::Node;

// As LightGBM's decision_type has them.
constexpr int kCategory = 1;
constexpr int kMissingLeft = 2;
constexpr int kNanIsMissing = 8;

/// The largest double that rounds to a float32 below `threshold`, so that doubles go where Podere sends them.
double loose_threshold(float threshold) {
  const float below = std::nextafter(threshold, -std::numeric_limits<float>::infinity());
  if (!std::isfinite(below)) return -std::numeric_limits<double>::max();  // no number is below
  const double middle = (static_cast<double>(below) + threshold) / 2;
  return static_cast<float>(middle) < threshold ? middle : std::nextafter(middle, -1e308);
}

/// A node's split as LightGBM has it, which keeps sets on the left, and missing categories on the right.
struct Split {
  bool is_swapped = false;
  double threshold;  ///< or which set
  int decision_type;
};

/// Sets of categories, as words of 32 bits one after another.
struct SetWords {
  std::vector<std::size_t> bounds{0};
  std::vector<std::uint32_t> words;

  std::size_t add(const std::vector<std::int32_t>& codes) {
    const std::size_t begin = bounds.back();
    words.resize(begin + (codes.empty() ? 1 : static_cast<std::size_t>(codes.back()) / 32 + 1));
    for (const std::int32_t code : codes) words[begin + static_cast<std::size_t>(code) / 32] |= 1U << (code % 32);
    bounds.push_back(words.size());
    return bounds.size() - 2;
  }
};

/// The codes of a feature that are not in `set`.
std::vector<std::int32_t> others(const std::vector<std::int32_t>& set, const table::Dictionary& texts,
                                 const std::string& feature) {
  if (!texts)
    throw_input_error(
        "{} has codes without texts and a split that sends missing ones with a set, which LightGBM cannot hold: "
        "write it as xgboost or onnx",
        feature);
  std::vector<std::int32_t> all(texts->size()), result;
  std::iota(all.begin(), all.end(), 0);
  std::ranges::set_difference(all, set, std::back_inserter(result));
  return result;
}

Split split_of(const tree::Tree& tree, const Node& node, const table::Schema& schema, SetWords& sets) {
  if (node.category_set < 0)
    return {.threshold = loose_threshold(node.threshold),
            .decision_type = kNanIsMissing | (node.missing_left ? kMissingLeft : 0)};
  const auto& set = tree.category_sets[static_cast<std::size_t>(node.category_set)];
  const auto feature = static_cast<std::size_t>(node.feature);
  const std::size_t place = node.missing_left
                                ? sets.add(set)
                                : sets.add(others(set, schema.categories.at(feature), schema.features[feature]));
  return {.is_swapped = node.missing_left,
          .threshold = static_cast<double>(place),
          .decision_type = kNanIsMissing | kCategory};
}

/// One line of a tree: of(node) for the nodes in `places`.
template <typename Of>
std::string line(const char* name, const tree::Tree& tree, const std::vector<std::size_t>& places, Of of) {
  std::string text = std::string(name) + '=';
  for (std::size_t i = 0; i < places.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : " ", of(tree.nodes[places[i]], i));
  return text + '\n';
}

/// `base` is added to the constants. In a tree with linear parts a leaf without one has its value for a constant.
std::string linear_text(const tree::Tree& tree, const std::vector<std::size_t>& leaves, double base) {
  if (tree.linear_parts.empty()) return "is_linear=0\n";
  std::vector<double> constants, coefficients;
  std::vector<std::size_t> sizes;
  std::vector<std::int32_t> features;
  for (const std::size_t leaf : leaves) {
    const Node& node = tree.nodes[leaf];
    const tree::LinearPart part = node.linear_part < 0 ? tree::LinearPart{.constant = node.value}
                                                       : tree.linear_parts[static_cast<std::size_t>(node.linear_part)];
    constants.push_back(base + part.constant);
    sizes.push_back(part.features.size());
    features.insert(features.end(), part.features.begin(), part.features.end());
    coefficients.insert(coefficients.end(), part.coefficients.begin(), part.coefficients.end());
  }
  return fmt::format("is_linear=1\nleaf_const={}\nnum_features={}\nleaf_features={}\nleaf_coeff={}\n",
                     fmt::join(constants, " "), fmt::join(sizes, " "), fmt::join(features, " "),
                     fmt::join(coefficients, " "));
}

/// `base` is added to the leaves.
std::string tree_text(const tree::Tree& tree, std::size_t number, const table::Schema& schema, double base) {
  std::vector<std::size_t> splits, leaves;
  std::vector<std::int64_t> name_of;  // splits count from 0 up, leaves from -1 down
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    auto& places = tree.nodes[i].is_leaf() ? leaves : splits;
    name_of.push_back(tree.nodes[i].is_leaf() ? ~static_cast<std::int64_t>(leaves.size())
                                              : static_cast<std::int64_t>(splits.size()));
    places.push_back(i);
  }
  SetWords sets;
  std::vector<Split> decisions;
  for (const std::size_t i : splits) decisions.push_back(split_of(tree, tree.nodes[i], schema, sets));
  const auto child = [&](bool is_left) {
    return [&, is_left](const Node& node, std::size_t i) {
      return name_of[static_cast<std::size_t>(node.left) + (is_left == decisions[i].is_swapped ? 1 : 0)];
    };
  };
  const auto cover = [](const Node& node, std::size_t) { return static_cast<double>(node.cover); };
  const auto count = [](const Node& node, std::size_t) { return std::llround(std::clamp(node.cover, 0.0F, 2e9F)); };
  std::string text =
      fmt::format("Tree={}\nnum_leaves={}\nnum_cat={}\n", number, leaves.size(), sets.bounds.size() - 1) +
      line("split_feature", tree, splits, [](const Node& node, std::size_t) { return node.feature; }) +
      line("split_gain", tree, splits, [](const Node& node, std::size_t) { return node.gain; }) +
      line("threshold", tree, splits, [&](const Node&, std::size_t i) { return decisions[i].threshold; }) +
      line("decision_type", tree, splits, [&](const Node&, std::size_t i) { return decisions[i].decision_type; }) +
      line("left_child", tree, splits, child(true)) + line("right_child", tree, splits, child(false)) +
      line("leaf_value", tree, leaves, [&](const Node& node, std::size_t) { return base + node.value; }) +
      line("leaf_weight", tree, leaves, cover) + line("leaf_count", tree, leaves, count) +
      line("internal_value", tree, splits, [](const Node&, std::size_t) { return 0; }) +
      line("internal_weight", tree, splits, cover) + line("internal_count", tree, splits, count);
  if (sets.bounds.size() > 1)
    text +=
        fmt::format("cat_boundaries={}\ncat_threshold={}\n", fmt::join(sets.bounds, " "), fmt::join(sets.words, " "));
  return text + linear_text(tree, leaves, base) + "shrinkage=1\n\n\n";
}

std::string objective_text(const tree::Options& options) {
  const auto known = lightgbm_objectives();
  const std::string name = std::ranges::find(known, options.objective, &ForeignObjective::objective)->name;
  return name + (options.n_classes > 0 ? fmt::format(" num_class:{}", options.n_classes) : "") +
         (traits_of(options.objective).link == Link::kLogit ? " sigmoid:1" : "");
}

/// What LightGBM knows of each feature: codes of categories, or a range of numbers.
std::string infos_text(const table::Schema& schema) {
  std::vector<std::string> infos(schema.features.size(), "[-1e+308:1e+308]");
  for (const auto& [feature, texts] : schema.categories) {
    std::vector<std::size_t> codes(texts ? std::max<std::size_t>(texts->size(), 1) : 1);
    std::iota(codes.begin(), codes.end(), std::size_t{0});
    infos[feature] = fmt::format("{}", fmt::join(codes, ":"));
  }
  return fmt::format("{}", fmt::join(infos, " "));
}

/// Its data frames recode columns by this. Texts that are numbers become such.
std::string pandas_text(const table::Schema& schema) {
  Json lists = Json::array();
  for (const auto& [feature, texts] : schema.categories) {
    if (!texts || texts->size() < 2) return "null";
    Json& list = lists.emplace_back(Json::array());
    for (const std::string& text : *texts) {
      const Json number = texts->are_numbers ? Json::parse(text, nullptr, /*allow_exceptions=*/false) : Json(text);
      list.push_back(number.is_discarded() ? Json(text) : number);
    }
  }
  return lists.empty() ? "null" : lists.dump();
}

}  // namespace

std::string to_lightgbm(const tree::Model& model) {
  if (const auto numbers = second_class(model, "LightGBM")) return to_lightgbm(*numbers);
  if (model.trees.empty()) throw InputError("the model has no trees, which LightGBM could not hold");
  const table::Schema& schema = model.schema;
  for (const std::string& name : schema.features) {
    if (name.find_first_of(" \t\r\n\",:[]{}") != std::string::npos)
      throw_input_error("feature '{}' has a space or one of \",:[]{{}}, which LightGBM does not take: rename it", name);
  }
  std::vector<std::string> trees;
  std::vector<std::size_t> sizes;
  for (std::size_t t = 0; t < model.trees.size(); ++t) {
    trees.push_back(tree_text(model.trees[t], t, schema, t < model.n_outputs() ? model.base_margin[t] : 0.0));
    sizes.push_back(trees.back().size());
  }
  return fmt::format(
      "tree\nversion=v4\nnum_class={0}\nnum_tree_per_iteration={0}\nlabel_index=0\nmax_feature_idx={1}\n"
      "objective={2}\nfeature_names={3}\nfeature_infos={4}\ntree_sizes={5}\n\n{6}end of trees\n\n"
      "feature_importances:\n\nparameters:\n{8}\nend of parameters\n\npandas_categorical:{7}\n",
      model.n_outputs(), schema.features.size() - 1, objective_text(model.options), fmt::join(schema.features, " "),
      infos_text(schema), fmt::join(sizes, " "), fmt::join(trees, ""), pandas_text(schema),
      traits_of(model.options.objective).has_quantile ? fmt::format("[alpha: {}]\n", model.options.quantile) : "");
}

}  // namespace podere::exchange
