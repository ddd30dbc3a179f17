#include "podere/tree/predict.h"

#include <algorithm>
#include <optional>

#include "podere/base/error.h"
#include "podere/base/parallel.h"
#include "podere/base/portable_math.h"
#include "podere/table/features.h"
#include "podere/tree/flat_tree.h"
#include "podere/tree/objective.h"

namespace podere::tree {
namespace {

float linear_value(const LinearPart& part, float value_without, std::span<const std::span<const float>> features,
                   std::size_t row) {
  double sum = part.constant;
  for (std::size_t i = 0; i < part.features.size(); ++i) {
    const float value = features[static_cast<std::size_t>(part.features[i])][row];
    if (value != value) return value_without;
    sum += part.coefficients[i] * value;
  }
  return static_cast<float>(sum);
}

/// For any tree.
float leaf_value(const Tree& tree, std::span<const std::span<const float>> features, std::size_t row) {
  const Node* node = tree.nodes.data();
  while (!node->is_leaf()) {
    const float value = features[static_cast<std::size_t>(node->feature)][row];
    node = tree.nodes.data() + node->left + (goes_left(tree, *node, value) ? 0 : 1);
  }
  if (node->linear_part < 0) return node->value;
  return linear_value(tree.linear_parts[static_cast<std::size_t>(node->linear_part)], node->value, features, row);
}

/// Replaces the margins of a row, `stride` apart, by probabilities.
void softmax(std::span<float> values, std::size_t n_outputs, std::size_t stride) {
  double largest = values[0];
  for (std::size_t k = 1; k < n_outputs; ++k) largest = std::max<double>(largest, values[k * stride]);
  double sum = 0;
  for (std::size_t k = 0; k < n_outputs; ++k) sum += portable_exp(values[k * stride] - largest);
  for (std::size_t k = 0; k < n_outputs; ++k) {
    float& value = values[k * stride];
    value = static_cast<float>(portable_exp(value - largest) / sum);
  }
}

/// What a margin alone means.
float prediction_of(float margin, Link link) {
  switch (link) {
    case Link::kProbability:
      return std::clamp(margin, 0.0F, 1.0F);
    case Link::kLogit:
      return static_cast<float>(sigmoid(margin));
    case Link::kLog:
      return static_cast<float>(portable_exp(margin));
    case Link::kIdentity:
    case Link::kSoftmax:
      break;
  }
  return margin;
}

}  // namespace

void add_trees(std::span<const Tree> trees, std::size_t n_outputs, std::span<const std::span<const float>> features,
               int n_threads, std::span<float> margins) {
  const std::size_t n_rows = margins.size() / n_outputs;
  std::vector<std::optional<FlatTree>> flat;
  for (const Tree& tree : trees) flat.push_back(flatten(tree));
  constexpr std::size_t kGrainRows = 4096;
  parallel_for_slices(n_threads, n_rows, kGrainRows, [&](std::size_t begin, std::size_t end, int) {
    KeyTile tile(features.size());
    for (std::size_t first = begin; first < end; first += KeyTile::kRows) {
      const std::size_t n = std::min(KeyTile::kRows, end - first);
      for (std::size_t j = 0; j < features.size(); ++j) tile.set(j, features[j].subspan(first, n));
      for (std::size_t t = 0; t < flat.size(); ++t) {
        float* const target = margins.data() + t % n_outputs * n_rows + first;
        if (flat[t]) {
          add_leaf_values(*flat[t], tile, n, target);
        } else {
          for (std::size_t i = 0; i < n; ++i) target[i] += leaf_value(trees[t], features, first + i);
        }
      }
    }
  });
}

std::vector<float> start_margins(std::span<const double> base_margin, std::size_t n_rows) {
  std::vector<float> margins;
  margins.reserve(base_margin.size() * n_rows);
  for (const double base : base_margin) margins.insert(margins.end(), n_rows, static_cast<float>(base));
  return margins;
}

std::vector<float> predict_margins(const Model& model, const table::Table& table, int n_threads) {
  std::vector<float> margins = start_margins(model.base_margin, table.n_rows());
  add_trees(model.trees, model.n_outputs(), table::feature_columns(model.schema, table), n_threads, margins);
  return margins;
}

std::vector<float> predictions_of(const Model& model, std::vector<float> values, int n_threads) {
  const Link link = traits_of(model.options.objective).link;
  if (link == Link::kIdentity) return values;
  const std::size_t n_outputs = model.n_outputs();
  const std::size_t n_rows = values.size() / n_outputs;
  constexpr std::size_t kGrainRows = 4096;
  if (link == Link::kSoftmax) {
    parallel_for_slices(n_threads, n_rows, kGrainRows, [&](std::size_t begin, std::size_t end, int) {
      for (std::size_t i = begin; i < end; ++i) softmax(std::span(values).subspan(i), n_outputs, n_rows);
    });
    return values;
  }
  parallel_for_slices(n_threads, values.size(), kGrainRows, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t i = begin; i < end; ++i) values[i] = prediction_of(values[i], link);
  });
  return values;
}

std::vector<float> predict(const Model& model, const table::Table& table, int n_threads) {
  return predictions_of(model, predict_margins(model, table, n_threads), n_threads);
}

}  // namespace podere::tree
