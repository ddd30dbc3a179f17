#include "podere/tree/model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "podere/algorithm/model_file.h"
#include "podere/base/checked_json.h"
#include "podere/base/error.h"
#include "podere/base/json.h"
#include "podere/base/json_fields.h"
#include "podere/table/schema_json.h"
#include "podere/tree/objective.h"
#include "podere/tree/tree_json.h"

namespace podere::tree {
namespace {

constexpr CheckedJsonKind kKind{"podere-gbt", "a model of boosted trees", 3, algorithm::kConvertAdvice};

/// The first version that can say what a model has, so that older programs read it if they can.
int version_of(const Model& model) {
  if (has_linear_parts(model)) return 3;
  return model.schema.categories.empty() ? 1 : 2;
}

Options options_from_json(const Json& json) {
  Options options;
  options.objective = parse_name<Objective>(json.at("objective").get<std::string>());
  Options::visit_fields(options, [&](const char* name, auto& value) {
    if (json.contains(name)) read_json(json[name], name, value);  // options that came later have their defaults
  });
  return options;
}

Json content_of(const Model& model) {
  Json trees = Json::array();
  for (const Tree& tree : model.trees) trees.push_back(to_json(tree));
  Json content{{"schema", table::to_json(model.schema)},
               {"options", json_of_all_fields(model.options)},
               {"base_margin", model.base_margin},
               {"history", evaluate::to_json(model.history)},
               {"trees", std::move(trees)}};
  if (model.rows) content["rows"] = {{"count", model.rows->n_rows}, {"hash", model.rows->hash}};
  return content;
}

Model model_from_content(const Json& content) {
  Model model;
  model.schema = table::schema_from_json(content.at("schema"));
  model.options = options_from_json(content.at("options"));
  content.at("base_margin").get_to(model.base_margin);
  model.history = evaluate::history_from_json(content.at("history"));
  for (const Json& tree : content.at("trees")) model.trees.push_back(tree_from_json(tree));
  if (content.contains("rows")) {
    model.rows.emplace();
    read_json(content["rows"].at("count"), "count", model.rows->n_rows);
    read_json(content["rows"].at("hash"), "hash", model.rows->hash);
  }
  validate(model);
  return model;
}

}  // namespace

void validate(const Model& model) {
  validate(model.options);
  table::check_names(model.schema.features);
  const std::size_t n_outputs = n_outputs_of(model.options);
  if (model.n_outputs() != n_outputs || n_outputs == 0) throw InputError("base_margin does not fit the objective");
  for (const double margin : model.base_margin) {
    if (!(std::abs(margin) <= std::numeric_limits<float>::max()))
      throw_input_error("base_margin {} is beyond float32", margin);
  }
  if (model.trees.size() % n_outputs != 0) throw InputError("the number of trees does not fit the objective");
  for (const Tree& tree : model.trees) check_tree(tree, model.schema);
}

bool has_linear_parts(const Model& model) {
  return std::ranges::any_of(model.trees, [](const Tree& tree) { return !tree.linear_parts.empty(); });
}

Importance importance(const Model& model) {
  const std::size_t n_features = model.schema.features.size();
  Importance result{std::vector<double>(n_features), std::vector<std::uint64_t>(n_features),
                    std::vector<double>(n_features)};
  for (const Tree& tree : model.trees) {
    for (const Node& node : tree.nodes) {
      if (node.is_leaf()) continue;
      const auto feature = static_cast<std::size_t>(node.feature);
      result.gain[feature] += node.gain;
      result.split[feature] += 1;
      result.cover[feature] += node.cover;
    }
  }
  return result;
}

bool is_trees_text(const std::string& text) { return is_of_kind(text, kKind); }

std::string to_text(const Model& model) { return checked_json_text(kKind, version_of(model), content_of(model)); }

Model from_text(const std::string& text, const std::string& name) {
  Model model;
  read_checked_json(text, name, kKind, [&](const Json& content) { model = model_from_content(content); });
  return model;
}

Model load_model(const std::filesystem::path& path) {
  return from_text(algorithm::read_model_text(path), path.string());
}

}  // namespace podere::tree
