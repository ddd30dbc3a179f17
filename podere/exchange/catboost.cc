#include "podere/exchange/catboost.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/json.h"
#include "podere/base/json_text.h"
#include "podere/base/number.h"
#include "podere/exchange/loose_tree.h"
#include "podere/exchange/objectives.h"

namespace podere::exchange {
namespace {

constexpr std::size_t kMostPlaces = 1'000'000;
constexpr std::size_t kMostLevels = 16;  // of symmetric trees, as CatBoost has it

struct FeatureRead {
  std::size_t place;  ///< among all features
  bool missing_right;
};

/// By `feature_index`, which splits name.
using FeaturesRead = std::map<std::size_t, FeatureRead>;

std::size_t place_in(const SortedJson& json) {
  if (!json.is_number_unsigned()) throw_input_error("has the number {}, allowed is a whole one from 0", json.dump());
  return json.get<std::size_t>();
}

float finite(const SortedJson& json, const char* name) {
  const double value = json.get<double>();
  if (!(std::abs(value) <= std::numeric_limits<float>::max()))
    throw_input_error("'{}' has {}, which is not a number of float32", name, json.dump());
  return static_cast<float>(value);
}

/// Throws InputError if the model has features that are no numbers.
void refuse_others(const SortedJson& infos) {
  for (const char* const kind : {"categorical_features", "text_features", "embedding_features"}) {
    if (!infos.contains(kind) || infos[kind].empty()) continue;
    const SortedJson& first = infos[kind][0];
    std::string name = first.value("feature_id", "");
    if (name.empty()) name = first.at("flat_feature_index").dump();
    throw_input_error("has {} such as {}, which CatBoost splits by hashes and statistics: train it on numbers", kind,
                      name);
  }
}

FeaturesRead read_features(const SortedJson& infos, tree::Model& model) {
  refuse_others(infos);
  const SortedJson& features = infos.at("float_features");
  std::vector<std::string>& names = model.schema.features;
  names.resize(features.size());
  bool has_names = false;
  FeaturesRead result;
  for (const SortedJson& feature : features) {
    const auto place = place_in(feature.at("flat_feature_index"));
    const auto index = place_in(feature.at("feature_index"));
    const auto missing = feature.at("nan_value_treatment").get<std::string>();
    if (missing != "AsIs" && missing != "AsFalse" && missing != "AsTrue")
      throw_input_error("has nan_value_treatment {}, allowed are AsIs, AsFalse and AsTrue", missing);
    if (place >= names.size() || place >= kMostPlaces ||
        !result.emplace(index, FeatureRead{place, missing == "AsTrue"}).second)
      throw_input_error("has feature {} of {}, or twice", place, names.size());
    names[place] = feature.value("feature_id", "");
    has_names = has_names || !names[place].empty();
  }
  if (!has_names) names = made_up_names(names.size());
  return result;
}

LooseNode read_split(const SortedJson& json, const FeaturesRead& features) {
  const auto type = json.at("split_type").get<std::string>();
  if (type != "FloatFeature") throw_input_error("has a split of type {}: train it on numbers", type);
  const auto index = place_in(json.at("float_feature_index"));
  const auto found = features.find(index);
  if (found == features.end()) throw_input_error("a split is of feature {}, which is not in the model", index);
  LooseNode loose;
  loose.node.feature = static_cast<std::int32_t>(found->second.place);
  loose.node.missing_left = !found->second.missing_right;
  loose.node.threshold = std::nextafter(finite(json.at("border"), "border"), std::numeric_limits<float>::infinity());
  return loose;
}

/// Where no number is above the border, only missing values can go right.
void add_split(std::vector<LooseNode>& nodes, std::size_t place, LooseNode loose, std::size_t left, std::size_t right) {
  loose.left = static_cast<std::int64_t>(left);
  loose.right = static_cast<std::int64_t>(right);
  if (std::isinf(loose.node.threshold)) part_missing(loose);
  nodes[place] = loose;
}

/// Trees of one round: a tree for each output, of the same splits.
using Round = std::vector<std::vector<LooseNode>>;

/// All nodes of a level have the same split. Bit d of a leaf's number says whether split d is true.
Round read_symmetric(const SortedJson& json, const FeaturesRead& features, std::size_t n_outputs) {
  std::vector<LooseNode> levels;
  if (json.at("splits").size() > kMostLevels)
    throw_input_error("has a tree of {} levels, allowed are {}", json["splits"].size(), kMostLevels);
  for (const SortedJson& split : json["splits"]) levels.push_back(read_split(split, features));
  const std::size_t n_leaves = std::size_t{1} << levels.size();
  const SortedJson& values = json.at("leaf_values");
  const SortedJson& weights = json.at("leaf_weights");
  if (values.size() != n_leaves * n_outputs || weights.size() != n_leaves)
    throw_input_error("a tree of {} leaves has {} leaf_values and {} leaf_weights", n_leaves, values.size(),
                      weights.size());
  // A heap: node i has children 2 i + 1 and 2 i + 2; the path to a leaf has its bits from the lowest on.
  std::vector<LooseNode> nodes(2 * n_leaves - 1);
  for (std::size_t i = 0; i < n_leaves - 1; ++i) {
    const auto level = static_cast<std::size_t>(std::bit_width(i + 1) - 1);
    add_split(nodes, i, levels[level], 2 * i + 1, 2 * i + 2);
  }
  Round round(n_outputs, nodes);
  for (std::size_t place = 0; place < n_leaves; ++place) {
    std::size_t leaf = 0;
    for (std::size_t d = 0; d < levels.size(); ++d) leaf |= (place >> (levels.size() - 1 - d) & 1) << d;
    for (std::size_t k = 0; k < n_outputs; ++k) {
      tree::Node& node = round[k][n_leaves - 1 + place].node;
      node.value = finite(values[leaf * n_outputs + k], "leaf_values");
      node.cover = finite(weights[leaf], "leaf_weights");
    }
  }
  for (auto& tree : round) {
    for (std::size_t i = n_leaves - 1; i-- > 0;)
      tree[i].node.cover = tree[2 * i + 1].node.cover + tree[2 * i + 2].node.cover;
  }
  return round;
}

/// {"split": ..., "left": ..., "right": ...}, or {"value": ..., "weight": ...}; right is where the split is true.
/// Returns the sum of the weights below.
float add_node(const SortedJson& json, const FeaturesRead& features, Round& round) {
  const std::size_t place = round[0].size();
  for (auto& tree : round) tree.emplace_back();
  if (!json.contains("split")) {
    const SortedJson& value = json.at("value");
    if (value.is_array() ? value.size() != round.size() : round.size() != 1)
      throw_input_error("a leaf's value is not of {} outputs", round.size());
    for (std::size_t k = 0; k < round.size(); ++k)
      round[k][place].node.value = finite(value.is_array() ? value[k] : value, "value");
    for (auto& tree : round) tree[place].node.cover = finite(json.at("weight"), "weight");
    return round[0][place].node.cover;
  }
  LooseNode loose = read_split(json["split"], features);
  const std::size_t left = round[0].size();
  loose.node.cover = add_node(json.at("left"), features, round);
  const std::size_t right = round[0].size();
  loose.node.cover += add_node(json.at("right"), features, round);
  for (auto& tree : round) add_split(tree, place, loose, left, right);
  return loose.node.cover;
}

Round read_any(const SortedJson& json, const FeaturesRead& features, std::size_t n_outputs) {
  Round round(n_outputs);
  add_node(json, features, round);
  return round;
}

/// "Quantile" with {"alpha": "0.8"}, "MultiQuantile" with {"alpha": "0.2,0.8"}.
struct CatboostObjective {
  tree::Objective objective;
  std::vector<double> quantiles = {};  ///< of objectives that have them
};

CatboostObjective read_loss(const SortedJson& model_info) {
  const SortedJson& loss = model_info.at("params").at("loss_function");
  const auto name = loss.at("type").get<std::string>();
  CatboostObjective result{objective_called(name, name, catboost_objectives())};
  if (!tree::traits_of(result.objective).has_quantile) return result;
  const SortedJson parameters = loss.value("params", SortedJson::object());
  result.quantiles = quantiles_in(parameters.value("alpha", "0.5"));
  return result;
}

/// Names of classes, which old versions wrote at other places. Null if there are none.
const SortedJson& class_names(const SortedJson& model_info) {
  static const SortedJson kNone;
  for (const char* const path :
       {"/class_params/class_names", "/multiclass_params/class_names", "/params/data_processing_options/class_names"}) {
    const SortedJson::json_pointer place(path);
    if (model_info.contains(place) && !model_info.at(place).empty()) return model_info.at(place);
  }
  return kNone;
}

/// Texts and numbers that are not the places of the classes themselves.
std::vector<std::string> read_classes(const SortedJson& model_info) {
  const SortedJson& classes = class_names(model_info);
  std::vector<std::string> texts;
  if (!classes.is_array()) return texts;
  bool are_places = true;
  for (std::size_t k = 0; k < classes.size(); ++k) {
    texts.push_back(classes[k].is_string() ? classes[k].get<std::string>() : classes[k].dump());
    are_places = are_places && parse_real(texts.back()) == static_cast<double>(k);
  }
  return are_places ? std::vector<std::string>() : texts;
}

/// Values of the first leaf.
std::size_t n_values_of(const SortedJson& file) {
  if (file.contains("oblivious_trees")) {
    const SortedJson& tree = file["oblivious_trees"].at(0);
    return tree.at("leaf_values").size() / std::max<std::size_t>(tree.at("leaf_weights").size(), 1);
  }
  const SortedJson* node = &file.at("trees").at(0);
  while (node->contains("split")) node = &node->at("left");
  return node->at("value").size();
}

/// A margin for each output; old versions have one number for all.
std::vector<double> read_bias(const SortedJson& json, const SortedJson& file) {
  std::vector<double> biases;
  for (const SortedJson& bias : json) biases.push_back(bias.get<double>());
  if (json.is_number()) biases.resize(n_values_of(file), biases[0]);
  return biases;
}

tree::Model read_file(const SortedJson& file, Target target) {
  const CatboostObjective objective = read_loss(file.at("model_info"));
  tree::Model model;
  const FeaturesRead features = read_features(file.at("features_info"), model);
  const double scale = file.at("scale_and_bias").at(0).get<double>();
  const bool is_of_classes = tree::traits_of(objective.objective).has_output_per_class();
  model.base_margin = read_bias(file["scale_and_bias"].at(1), file);
  const std::size_t n_outputs = model.base_margin.size();
  if (n_outputs < (is_of_classes ? 2 : 1) || n_outputs > static_cast<std::size_t>(tree::kMaxClasses))
    throw_input_error("has {} outputs, which does not fit the objective", n_outputs);
  const bool has_quantile = tree::traits_of(objective.objective).has_quantile;
  if (has_quantile && objective.quantiles.size() != n_outputs)
    throw_input_error("has {} quantiles and {} outputs", objective.quantiles.size(), n_outputs);
  const bool has_targets = n_outputs > 1 && !is_of_classes;
  if (!has_targets) check_no_target(target);
  const std::size_t chosen = has_targets ? chosen_target(target, n_outputs, has_quantile ? "quantiles" : "targets") : 0;
  const bool is_symmetric = file.contains("oblivious_trees");
  for (const SortedJson& json : file.at(is_symmetric ? "oblivious_trees" : "trees")) {
    for (auto& nodes : (is_symmetric ? read_symmetric : read_any)(json, features, n_outputs)) {
      for (LooseNode& loose : nodes) loose.node.value = static_cast<float>(scale * loose.node.value);
      model.trees.push_back({in_order(nodes), {}});
    }
  }
  if (has_targets) keep_output(model, chosen);
  model.options = options_of(objective.objective, static_cast<int>(n_outputs), model.trees);
  if (has_quantile) model.options.quantile = objective.quantiles[chosen];
  if (traits_of(objective.objective).has_classes() && !has_targets)
    model.schema.classes = read_classes(file["model_info"]);
  return model;
}

}  // namespace

tree::Model from_catboost(const std::string& text, Target target) {
  if (is_nested_deeper_than(text, kMaxJsonDepth)) throw InputError("is no model (nested too deeply)");
  const SortedJson file = SortedJson::parse(text, nullptr, /*allow_exceptions=*/false);
  if (file.is_discarded()) throw InputError("is not a whole model (not valid JSON)");
  try {
    return read_file(file, target);
  } catch (const SortedJson::exception& error) {
    const std::string_view cause = error.what();
    throw_input_error("is not a whole CatBoost model ({})", cause.substr(cause.find("] ") + 2));
  }
}

}  // namespace podere::exchange
