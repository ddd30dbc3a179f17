#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/json.h"
#include "podere/base/json_text.h"
#include "podere/base/number.h"
#include "podere/base/portable_math.h"
#include "podere/exchange/loose_tree.h"
#include "podere/exchange/objectives.h"
#include "podere/exchange/ubjson.h"
#include "podere/exchange/xgboost.h"
#include "podere/exchange/xgboost_binary.h"
#include "podere/exchange/xgboost_categories.h"
#include "podere/exchange/xgboost_linear.h"
#include "podere/tree/objective.h"

namespace podere::exchange {
namespace {

using tree::Link;

constexpr std::int64_t kMostFeatures = 1'000'000;

/// XGBoost writes NaN, which is not JSON, as the threshold of categorical splits.
std::string with_null_for_nan(const std::string& text) {
  std::string result;
  result.reserve(text.size());
  bool is_in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_in_string && text.compare(i, 3, "NaN") == 0) {
      result += "null";
      i += 2;
      continue;
    }
    if (is_in_string && text[i] == '\\' && i + 1 < text.size())
      result += text[i++];
    else if (text[i] == '"')
      is_in_string = !is_in_string;
    result += text[i];
  }
  return result;
}

SortedJson parse_json(const std::string& text) {
  if (is_nested_deeper_than(text, kMaxJsonDepth)) throw InputError("is no model (nested too deeply)");
  SortedJson file = SortedJson::parse(with_null_for_nan(text), nullptr, /*allow_exceptions=*/false);
  if (file.is_discarded()) throw InputError("is not a whole model (not valid JSON)");
  return file;
}

/// A whole number, which XGBoost writes as a text.
std::int64_t whole(const SortedJson& object, const char* name, std::optional<std::int64_t> otherwise = std::nullopt) {
  if (otherwise && !object.contains(name)) return *otherwise;
  const SortedJson& value = object.at(name);
  if (value.is_string()) {
    const auto number = parse_count(value.get_ref<const std::string&>());
    if (number && std::in_range<std::int64_t>(*number)) return static_cast<std::int64_t>(*number);
  } else if (value.is_number_integer() && std::in_range<std::int64_t>(value.get<std::uint64_t>())) {
    return value.get<std::int64_t>();
  }
  throw_input_error("'{}' is {}, allowed is a whole number", name, value.dump());
}

template <typename T>
T element(const SortedJson& value, const char* name) {
  if constexpr (std::is_floating_point_v<T>) {
    // The shortest text of the largest float is a larger double.
    const T number = value.is_number() ? static_cast<T>(value.get<double>()) : std::numeric_limits<T>::infinity();
    if (std::isfinite(number)) return number;
  } else if (value.is_boolean()) {
    return static_cast<T>(value.get<bool>());
  } else if (value.is_number_integer() && std::in_range<T>(value.get<std::int64_t>())) {
    return value.get<T>();
  }
  throw_input_error("a tree's '{}' has {}, which is not a number of its kind", name, value.dump());
}

/// One array of a tree, of which `n` elements are there.
const SortedJson& column(const SortedJson& tree, const char* name, std::size_t n) {
  const SortedJson& values = tree.at(name);
  if (!values.is_array() || values.size() != n) throw_input_error("a tree's '{}' has the wrong length", name);
  return values;
}

struct CategorySets {
  std::vector<std::vector<std::int32_t>> sets;
  std::vector<std::int32_t> set_of_node;  ///< -1: none
};

/// All sets lie in one array, one after another, and belong to the nodes of another. A set's codes go right.
CategorySets read_category_sets(const SortedJson& json, std::size_t n_nodes) {
  CategorySets result;
  result.set_of_node.assign(n_nodes, -1);
  if (!json.contains("categories_nodes")) return result;
  const SortedJson& nodes = json["categories_nodes"];
  const std::size_t n_sets = nodes.size();
  const SortedJson &codes = json.at("categories"), &begins = column(json, "categories_segments", n_sets),
                   &sizes = column(json, "categories_sizes", n_sets);
  std::size_t begin = 0;
  for (std::size_t s = 0; s < n_sets; ++s) {
    const auto node = element<std::uint32_t>(nodes[s], "categories_nodes");
    const auto size = element<std::uint32_t>(sizes[s], "categories_sizes");
    if (node >= n_nodes || element<std::uint64_t>(begins[s], "categories_segments") != begin ||
        size > codes.size() - begin)
      throw InputError("a tree has categories that lead out of it");
    auto& set = result.sets.emplace_back();
    for (std::size_t i = begin; i < begin + size; ++i) {
      set.push_back(element<std::int32_t>(codes[i], "categories"));
      if (set.back() < 0 || std::cmp_greater_equal(set.back(), table::kMaxCategories))
        throw_input_error("a tree has category {}, allowed is 0 to {}", set.back(), table::kMaxCategories - 1);
    }
    begin += size;
    std::ranges::sort(set);
    set.erase(std::unique(set.begin(), set.end()), set.end());
    result.set_of_node[node] = static_cast<std::int32_t>(s);
  }
  return result;
}

constexpr std::int32_t kNoChild = -1;  // of a leaf

std::int64_t leaf_size(const SortedJson& tree) { return whole(tree.at("tree_param"), "size_leaf_vector", 1); }

/// The values of leaves. Vector leaves have `n_outputs` each: in order of the nodes, or, since 3.2, of the leaves,
/// whose right child is their number.
class LeafValues {
 public:
  LeafValues(const SortedJson& tree, std::size_t output)
      : n_outputs_(static_cast<std::size_t>(std::max<std::int64_t>(leaf_size(tree), 1))),
        output_(n_outputs_ == 1 ? 0 : output),
        name_(n_outputs_ == 1                 ? "split_conditions"
              : tree.contains("leaf_weights") ? "leaf_weights"
                                              : "base_weights"),
        values_(tree.at(name_)) {}

  float of(std::size_t node, std::int64_t right) const {
    const std::int64_t place = name_ == std::string_view("leaf_weights") ? right : static_cast<std::int64_t>(node);
    if (place < 0 || static_cast<std::size_t>(place) >= values_.size() / n_outputs_)
      throw_input_error("a leaf has the value {} of {}", place, values_.size() / n_outputs_);
    return element<float>(values_[static_cast<std::size_t>(place) * n_outputs_ + output_], name_);
  }

 private:
  std::size_t n_outputs_, output_;
  const char* name_;
  const SortedJson& values_;
};

/// Of vector leaves the values of one output.
tree::Tree read_tree(const SortedJson& json, std::size_t n_features, std::size_t output) {
  const std::size_t n = json.at("left_children").size();
  const auto at = [&](const char* name) -> const SortedJson& { return column(json, name, n); };
  const SortedJson &left = at("left_children"), &right = at("right_children"), &feature = at("split_indices"),
                   &threshold = at("split_conditions"), &default_left = at("default_left");
  // Vector leaves have no such numbers before 3.2.
  const bool has_statistics = leaf_size(json) <= 1 || json.contains("sum_hessian");
  const SortedJson* const gain = has_statistics ? &at("loss_changes") : nullptr;
  const SortedJson* const cover = has_statistics ? &at("sum_hessian") : nullptr;
  const LeafValues leaves(json, output);
  const CategorySets categories = read_category_sets(json, n);
  std::vector<LooseNode> nodes(n);
  for (std::size_t i = 0; i < n; ++i) {
    LooseNode& loose = nodes[i];
    loose.left = element<std::int32_t>(left[i], "left_children");
    loose.right = element<std::int32_t>(right[i], "right_children");
    if (has_statistics) loose.node.cover = element<float>((*cover)[i], "sum_hessian");
    if (loose.left < kNoChild) throw_input_error("a node's child is node {} of {}", loose.left, n);
    if (loose.left == kNoChild) {
      loose.node.value = leaves.of(i, loose.right);
      continue;
    }
    loose.node.feature = element<std::int32_t>(feature[i], "split_indices");
    if (static_cast<std::size_t>(loose.node.feature) >= n_features)
      throw_input_error("a node splits on feature {} of {}", loose.node.feature, n_features);
    loose.node.category_set = categories.set_of_node[i];
    if (loose.node.category_set < 0) loose.node.threshold = element<float>(threshold[i], "split_conditions");
    loose.node.missing_left = element<std::uint8_t>(default_left[i], "default_left") != 0;
    if (has_statistics) loose.node.gain = element<float>((*gain)[i], "loss_changes");
  }
  return {in_order(nodes), categories.sets};
}

/// Of XGBoost: {1, 7}. Nothing if the file does not say it.
using Version = std::optional<std::pair<std::int64_t, std::int64_t>>;

Version read_version(const SortedJson& file) {
  const auto version = file.value("version", std::vector<std::int64_t>());
  return version.size() < 2 ? Version() : std::pair(version[0], version[1]);
}

struct XgboostObjective {
  tree::Objective objective;
  Link base_link;                      ///< by which a base score becomes a margin
  std::vector<double> quantiles = {};  ///< of objectives that have them
};

/// Until 0.90 the base score was a margin. From then until 1.2 that of raw margins was a probability too.
Link base_link_of(const std::string& objective, Link link, const Version& version) {
  if (!version) return link;
  if (version->first < 1) return Link::kIdentity;
  return objective == "binary:logitraw" && *version < std::pair<std::int64_t, std::int64_t>(1, 3) ? Link::kLogit : link;
}

XgboostObjective read_objective(const SortedJson& json, const Version& version) {
  const auto name = json.at("name").get<std::string>();
  const tree::Objective objective = objective_called(name, name, xgboost_objectives());
  if (traits_of(objective).has_quantile) {
    const auto alpha = json.at("quantile_loss_param").at("quantile_alpha").get<std::string>();
    return {objective, Link::kIdentity, quantiles_in(alpha)};
  }
  return {objective, base_link_of(name, traits_of(objective).link, version)};
}

/// "5E-1", or "[5E-1,...]" since XGBoost 3.1.
std::vector<double> read_base_score(const SortedJson& json) {
  const auto scores = numbers_in(json.is_string() ? json.get<std::string>() : json.dump());
  if (!scores) throw_input_error("base_score is {}, allowed are finite numbers", json.dump());
  return *scores;
}

/// XGBoost keeps the base score as a prediction: the link function makes it a margin.
double base_margin(double score, Link link) {
  if (link == Link::kLog) {
    if (!(score > 0)) throw_input_error("base_score is {}, allowed is above 0", score);
    return portable_log(score);
  }
  if (link != Link::kLogit) return score;
  if (!(score > 0 && score < 1)) throw_input_error("base_score is {}, allowed is above 0 and below 1", score);
  return portable_log(score / (1 - score));
}

std::vector<double> base_margins(const SortedJson& json, Link link, std::size_t n_outputs) {
  std::vector<double> margins = read_base_score(json);
  if (margins.size() == 1) margins.resize(n_outputs, margins[0]);
  if (margins.size() != n_outputs)
    throw_input_error("base_score has {} numbers for {} outputs", margins.size(), n_outputs);
  for (double& margin : margins) margin = base_margin(margin, link);
  return margins;
}

/// The rounds that early stopping says are best are all that predictions are made with: trees of each output.
std::size_t n_best_trees(const SortedJson& learner, const SortedJson& gbtree, std::size_t n_trees) {
  const SortedJson attributes = learner.value("attributes", SortedJson::object());
  if (!attributes.is_object() || !attributes.contains("best_iteration")) return n_trees;
  const auto count_in = [](const SortedJson& object, const char* name) {
    return static_cast<std::size_t>(whole(object, name));
  };
  const std::size_t best = std::min(n_trees, count_in(attributes, "best_iteration"));
  const SortedJson& parameters = gbtree.at("gbtree_model_param");
  if (parameters.contains("num_parallel_tree"))
    return std::min(n_trees, (best + 1) * std::max<std::size_t>(count_in(parameters, "num_parallel_tree"), 1));
  if (attributes.contains("best_ntree_limit")) return std::min(n_trees, count_in(attributes, "best_ntree_limit"));
  throw InputError(
      "ended early (best_iteration) and does not say how many trees a round has: for all trees, save it after "
      "booster.set_attr(best_iteration=None)");
}

struct Booster {
  const SortedJson& model;          ///< of gbtree
  std::vector<float> weights = {};  ///< of the trees of dart; empty: all are 1
};

Booster read_booster(const SortedJson& json) {
  const auto name = json.at("name").get<std::string>();
  if (name == "gbtree") return {json.at("model")};
  if (name != "dart")
    throw_input_error("has the booster '{}', which Podere does not have: train with gbtree, dart or gblinear", name);
  Booster booster{json.at("gbtree").at("model")};
  for (const SortedJson& weight : json.at("weight_drop"))
    booster.weights.push_back(element<float>(weight, "weight_drop"));
  if (booster.weights.size() != booster.model.at("trees").size())
    throw_input_error("has {} weights (weight_drop) of {} trees", booster.weights.size(),
                      booster.model.at("trees").size());
  return booster;
}

/// Trees of forests (num_parallel_tree) come class by class in each round; Podere's take turns.
std::vector<tree::Tree> read_trees(const SortedJson& learner, std::size_t n_features, std::size_t n_outputs) {
  const Booster booster = read_booster(learner.at("gradient_booster"));
  const SortedJson& trees = booster.model.at("trees");
  const SortedJson& output_of = booster.model.at("tree_info");
  if (output_of.size() != trees.size())
    throw_input_error("has {} trees, of which {} say their class", trees.size(), output_of.size());
  std::vector<std::vector<std::size_t>> trees_of(n_outputs);
  for (std::size_t t = 0; t < trees.size(); ++t) {
    if (const std::int64_t n = leaf_size(trees[t]); n > 1) {  // vector leaves: of all outputs
      if (std::cmp_not_equal(n, n_outputs)) throw_input_error("has leaves of {} numbers for {} outputs", n, n_outputs);
      for (auto& of_one : trees_of) of_one.push_back(t);
      continue;
    }
    const auto output = element<std::uint32_t>(output_of[t], "tree_info");
    if (output >= n_outputs) throw_input_error("tree {} is of class {} of {}", t, output, n_outputs);
    trees_of[output].push_back(t);
  }
  const std::size_t n_each = trees_of[0].size();
  for (const auto& of_one : trees_of) {
    if (of_one.size() != n_each) throw InputError("has more trees of one class than of another");
  }
  const std::size_t n_used = n_best_trees(learner, booster.model, n_each);
  std::vector<tree::Tree> result;
  for (std::size_t i = 0; i < n_used * n_outputs; ++i) {
    const std::size_t t = trees_of[i % n_outputs][i / n_outputs];
    result.push_back(read_tree(trees[t], n_features, i % n_outputs));
    if (booster.weights.empty()) continue;
    for (tree::Node& node : result.back().nodes) node.value *= booster.weights[t];
  }
  return result;
}

std::vector<std::string> read_types(const SortedJson& learner, std::size_t n_features) {
  auto types = learner.value("feature_types", std::vector<std::string>());
  if (!types.empty() && types.size() != n_features)
    throw_input_error("has {} feature_types for {} features", types.size(), n_features);
  return types;
}

/// Turns splits that send all codes left, and only missing values elsewhere, into those of an empty set of categories.
void find_empty_sets(const std::vector<std::string>& types, std::vector<tree::Tree>& trees) {
  for (tree::Tree& tree : trees) {
    for (tree::Node& node : tree.nodes) {
      const bool is_of_numbers = !node.is_leaf() && node.category_set < 0;
      if (!is_of_numbers || types.empty() || types[static_cast<std::size_t>(node.feature)] != "c") continue;
      if (node.threshold != kAboveAllCodes) continue;
      node.threshold = 0;
      node.category_set = static_cast<std::int32_t>(tree.category_sets.size());
      tree.category_sets.emplace_back();
    }
  }
}

/// The features of type "c", and those that trees split by categories: files need not say types.
std::map<std::size_t, table::Dictionary> read_categories(const std::vector<std::string>& types,
                                                         const std::vector<tree::Tree>& trees) {
  auto features = categorical_features(trees);
  for (std::size_t j = 0; j < types.size(); ++j) {
    if (types[j] == "c") features.emplace(j, std::nullopt);
  }
  return features;
}

table::Schema read_schema(const SortedJson& learner) {
  const std::int64_t n = whole(learner.at("learner_model_param"), "num_feature");
  if (n < 1 || n > kMostFeatures) throw_input_error("num_feature is {}, allowed is 1 to {}", n, kMostFeatures);
  table::Schema schema;
  schema.features = learner.value("feature_names", std::vector<std::string>());
  if (schema.features.empty()) schema.features = made_up_names(static_cast<std::size_t>(n));
  if (std::cmp_not_equal(schema.features.size(), n))
    throw_input_error("has {} feature_names for {} features", schema.features.size(), n);
  return schema;
}

XgboostModel read_xgboost_file(const SortedJson& file, Target target) {
  if (!file.contains("learner")) throw InputError("is no model of Podere or XGBoost (no 'format' and no 'learner')");
  const SortedJson& learner = file.at("learner");
  const SortedJson& parameters = learner.at("learner_model_param");
  const XgboostObjective objective = read_objective(learner.at("objective"), read_version(file));
  const bool is_of_classes = traits_of(objective.objective).has_output_per_class();
  const std::int64_t n_classes = whole(parameters, "num_class", 0);
  if (is_of_classes ? n_classes < 2 || n_classes > tree::kMaxClasses : n_classes > 1)
    throw_input_error("num_class is {}, which does not fit the objective or is above {}", n_classes, tree::kMaxClasses);
  const std::int64_t n_targets = std::max<std::int64_t>(whole(parameters, "num_target", 1), 1);
  if (n_targets > (is_of_classes ? 1 : tree::kMaxClasses))
    throw_input_error("predicts {} targets, which does not fit the objective or is above {}", n_targets,
                      tree::kMaxClasses);
  const auto n_outputs = static_cast<std::size_t>(is_of_classes ? n_classes : n_targets);
  const bool has_quantile = traits_of(objective.objective).has_quantile;
  if (has_quantile && objective.quantiles.size() != n_outputs)
    throw_input_error("has {} quantiles and {} outputs", objective.quantiles.size(), n_outputs);
  if (n_targets == 1) check_no_target(target);
  const std::size_t chosen =
      n_targets > 1 ? chosen_target(target, n_outputs, has_quantile ? "quantiles" : "targets") : 0;

  tree::Model model;
  model.schema = read_schema(learner);
  model.base_margin = base_margins(parameters.at("base_score"), objective.base_link, n_outputs);
  const SortedJson& booster = learner.at("gradient_booster");
  if (booster.at("name") == "gblinear" && n_targets > 1)
    throw InputError("is a linear model (gblinear) of several targets: train it with gbtree or dart");
  if (booster.at("name") == "gblinear")
    return linear_from_xgboost(booster, model.schema, objective.objective, model.base_margin);
  model.trees = read_trees(learner, model.schema.features.size(), n_outputs);
  if (n_targets > 1) keep_output(model, chosen);
  const std::vector<std::string> types = read_types(learner, model.schema.features.size());
  find_empty_sets(types, model.trees);
  model.schema.categories = read_categories(types, model.trees);
  if (const auto categories = categories_from_xgboost(read_booster(booster).model, model.schema); !categories.empty())
    name_categories(model, categories);
  model.options = options_of(objective.objective, static_cast<int>(n_classes), model.trees);
  if (has_quantile) model.options.quantile = objective.quantiles[chosen];
  return model;
}

}  // namespace

XgboostModel any_from_xgboost(const std::string& text, Target target) {
  const SortedJson file = is_ubjson(text)           ? from_ubjson(text)
                          : is_xgboost_binary(text) ? from_xgboost_binary(text)
                                                    : parse_json(text);
  try {
    return read_xgboost_file(file, target);
  } catch (const SortedJson::exception& error) {
    const std::string_view cause = error.what();  // "[json.exception...] key 'name' not found"
    throw_input_error("is not a whole XGBoost model ({})", cause.substr(cause.find("] ") + 2));
  }
}

tree::Model from_xgboost(const std::string& text, Target target) {
  XgboostModel model = any_from_xgboost(text, target);
  if (auto* const trees = std::get_if<tree::Model>(&model)) return std::move(*trees);
  throw InputError("is a linear model (gblinear), not one of trees");
}

}  // namespace podere::exchange
