#include "podere/exchange/xgboost_linear.h"

#include <cmath>
#include <cstddef>
#include <limits>

#include "podere/base/error.h"

namespace podere::exchange {
namespace {

neural::Loss loss_of(tree::Objective objective) {
  switch (tree::traits_of(objective).link) {
    case tree::Link::kIdentity:
      return neural::Loss::kSquaredError;
    case tree::Link::kLogit:
      return neural::Loss::kBinaryCrossEntropy;
    case tree::Link::kSoftmax:
      return neural::Loss::kCrossEntropy;
    case tree::Link::kLog:
    case tree::Link::kProbability:  // which XGBoost does not have
      break;
  }
  throw InputError(
      "is a linear model (gblinear) whose predictions are exponentials, which Podere does not have: train with gbtree");
}

float linear_weight(const SortedJson& json, double base) {
  const double weight = json.get<double>() + base;
  if (!(std::abs(weight) <= std::numeric_limits<float>::max()))
    throw_input_error("'weights' has {}, which is not a number of float32", json.dump());
  return static_cast<float>(weight);
}

}  // namespace

neural::Model linear_from_xgboost(const SortedJson& booster, const table::Schema& schema, tree::Objective objective,
                                  std::span<const double> base_margins) {
  const std::size_t n_features = schema.features.size(), n_outputs = base_margins.size();
  neural::Model model;
  model.schema = schema;
  model.options.loss = loss_of(objective);
  model.options.n_classes = model.options.loss == neural::Loss::kCrossEntropy ? static_cast<int>(n_outputs) : 0;
  model.options.hidden = {};
  model.options.standardize = model.options.standardize_target = false;
  model.options.impute = true;  // by the means, which are 0
  model.scaling = {std::vector<double>(n_features, 0), std::vector<double>(n_features, 1)};
  neural::check_shape(model.schema, model.options);
  model.layout = neural::layout_of(model.schema, model.options);

  // A row for each feature, and one for the biases: [n_features + 1 x n_outputs].
  const SortedJson& weights = booster.at("model").at("weights");
  if (weights.size() != (n_features + 1) * n_outputs)
    throw_input_error("has {} weights of {} features and {} outputs", weights.size(), n_features, n_outputs);
  const neural::Layer& layer = model.layout.layer(0);
  model.weights.assign(model.layout.size(), 0);
  for (std::size_t j = 0; j <= n_features; ++j) {
    for (std::size_t k = 0; k < n_outputs; ++k) {
      // Of the scores that 3.1 and later have for each output, gblinear takes the first for all.
      const double base = j == n_features ? base_margins[0] : 0;
      layer.of(model.weights.data())[k * layer.stride() + j] = linear_weight(weights.at(j * n_outputs + k), base);
    }
  }
  return model;
}

}  // namespace podere::exchange
