#include "podere/neural/model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

#include "podere/base/base64.h"
#include "podere/base/checked_json.h"
#include "podere/base/error.h"
#include "podere/base/json.h"
#include "podere/base/json_fields.h"
#include "podere/neural/inputs.h"
#include "podere/table/schema_json.h"

namespace podere::neural {
namespace {

constexpr CheckedJsonKind kKind{"podere-network", "a network", 2};

/// Programs of version 1 would predict labels as they were learned, if these are scaled.
int version_of(const Model& model) { return model.target == TargetScaling() ? 1 : kKind.newest_version; }

static_assert(std::endian::native == std::endian::little);

template <typename T>
Json binary(const std::vector<T>& values) {
  return to_base64(std::as_bytes(std::span(values)));
}

template <typename T>
std::vector<T> read_binary(const Json& json, const char* name) {
  std::string text;
  read_json(json, name, text);
  const std::vector<std::byte> bytes = from_base64(text);
  if (bytes.size() % sizeof(T) != 0) throw_input_error("'{}' is cut short", name);
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

Options options_from_json(const Json& json) {
  if (!json.is_object()) throw_input_error("'options' is {}, which is not an object", json.dump());
  Options options;
  options.standardize_target = false;  // in files from before it was there
  Options::visit_fields(options, [&](const char* name, auto& value) {
    if (json.contains(name)) read_json(json[name], name, value);  // options that came later have their defaults
  });
  return options;
}

/// Calls visit(place among all, place in the file) for every weight and bias.
template <typename Visit>
void for_each_place(const Layout& layout, const Visit& visit) {
  std::size_t in_file = 0;
  for (const Layer& layer : layout.layers()) {
    for (std::size_t j = 0; j < layer.n_outputs; ++j) {
      for (std::size_t i = 0; i <= layer.n_inputs; ++i) visit(layer.offset + j * layer.stride() + i, in_file++);
    }
  }
}

/// Without what has no meaning for the model: programs of before it write and read the same.
Json options_of(const Model& model) {
  Json options = json_of_all_fields(model.options);
  if (model.schema.categories.empty()) options.erase("one_hot");
  return options;
}

Json content_of(const Model& model) {
  std::vector<float> weights(model.layout.n_weights());
  for_each_place(model.layout,
                 [&](std::size_t place, std::size_t in_file) { weights[in_file] = model.weights[place]; });
  return {{"schema", table::to_json(model.schema)},
          {"options", options_of(model)},
          {"scaling", {{"mean", model.scaling.mean}, {"scale", model.scaling.scale}}},
          {"target_scaling", {{"mean", model.target.mean}, {"scale", model.target.scale}}},
          {"history", evaluate::to_json(model.history)},
          {"weights", binary(weights)}};
}

Model model_from_content(const Json& content) {
  Model model;
  model.schema = table::schema_from_json(content.at("schema"));
  model.options = options_from_json(content.at("options"));
  read_json(content.at("scaling").at("mean"), "mean", model.scaling.mean);
  read_json(content.at("scaling").at("scale"), "scale", model.scaling.scale);
  if (content.contains("target_scaling")) {
    read_json(content["target_scaling"].at("mean"), "mean", model.target.mean);
    read_json(content["target_scaling"].at("scale"), "scale", model.target.scale);
  }
  model.history = evaluate::history_from_json(content.at("history"));
  // Before anything is as large as they say.
  check_shape(model.schema, model.options);
  model.layout = layout_of(model.schema, model.options);
  const auto weights = read_binary<float>(content.at("weights"), "weights");
  if (weights.size() != model.layout.n_weights()) {
    throw_input_error("there are {} weights, its layers have {}", weights.size(), model.layout.n_weights());
  }
  model.weights.assign(model.layout.size(), 0.0F);
  for_each_place(model.layout,
                 [&](std::size_t place, std::size_t in_file) { model.weights[place] = weights[in_file]; });
  validate(model);
  return model;
}

}  // namespace

Layout layout_of(const table::Schema& schema, const Options& options) {
  return {Inputs(schema, options.one_hot).n_inputs(), options.hidden,
          options.loss == Loss::kCrossEntropy ? static_cast<std::size_t>(options.n_classes) : 1};
}

void check_shape(const table::Schema& schema, const Options& options) {
  validate(options);
  if (schema.features.empty()) throw InputError("there are no feature columns");
  if (schema.features.size() > kMaxWidth) {
    throw_input_error("there are {} feature columns, a network takes at most {}", schema.features.size(), kMaxWidth);
  }
  if (const std::size_t n = Inputs(schema, options.one_hot).n_inputs(); n > kMaxWidth) {
    throw_input_error("the features have {} inputs, categories included, a network takes at most {}: lower one-hot", n,
                      kMaxWidth);
  }
  if (options.loss == Loss::kCrossEntropy && options.n_classes == 0)
    throw InputError("the number of classes is missing");
  if (const std::size_t n = layout_of(schema, options).n_weights(); n > kMaxWeights) {
    throw_input_error("the layers have {} weights, allowed are at most {}", n, kMaxWeights);
  }
}

void validate(const Model& model) {
  check_shape(model.schema, model.options);
  table::check_names(model.schema.features);
  const std::size_t n_features = model.schema.features.size();
  const table::Scaling& scaling = model.scaling;
  if (scaling.mean.size() != n_features || scaling.scale.size() != n_features ||
      !std::ranges::all_of(scaling.mean, [](double x) { return std::isfinite(x); }) ||
      !std::ranges::all_of(scaling.scale, [](double x) { return std::isfinite(x) && x > 0; })) {
    throw InputError("the scaling does not fit the features");
  }
  const TargetScaling& target = model.target;
  if (!std::isfinite(target.mean) || !std::isfinite(target.scale) || !(target.scale > 0) ||
      (model.options.loss != Loss::kSquaredError && target != TargetScaling())) {
    throw InputError("the scaling does not fit the labels");
  }
  if (!are_finite(model.weights)) {
    throw InputError("a weight is not finite");
  }
}

std::string to_text(const Model& model) { return checked_json_text(kKind, version_of(model), content_of(model)); }

std::string to_text(const Checkpoint& checkpoint) {
  Json content = content_of(checkpoint.model);
  content["state"] = Json::object();
  for (const auto& [name, values] : checkpoint.state.numbers) content["state"][name] = binary(values);
  return checked_json_text(kKind, version_of(checkpoint.model), std::move(content));
}

Model from_text(const std::string& text, const std::string& name) {
  Model model;
  read_checked_json(text, name, kKind, [&](const Json& content) { model = model_from_content(content); });
  return model;
}

Checkpoint checkpoint_from_text(const std::string& text, const std::string& name) {
  Checkpoint checkpoint;
  read_checked_json(text, name, kKind, [&](const Json& content) {
    checkpoint.model = model_from_content(content);
    if (!content.contains("state")) throw InputError("is a whole model, not a checkpoint of one under way");
    const Json& state = content["state"];
    if (!state.is_object()) throw_input_error("'state' is {}, which is not an object", state.dump());
    for (const auto& [key, values] : state.items()) {
      checkpoint.state.numbers[key] = read_binary<double>(values, key.c_str());
    }
  });
  return checkpoint;
}

bool is_network_text(const std::string& text) { return is_of_kind(text, kKind); }

}  // namespace podere::neural
