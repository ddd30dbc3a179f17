#include "podere/tree/predict.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "podere/base/error.h"
#include "podere/base/parallel.h"
#include "podere/base/portable_math.h"

namespace podere::tree {
namespace {

constexpr std::size_t kTileRows = 64;

/// A node as prediction reads it: 12 bytes.
struct FlatNode {
  float threshold;        // of a leaf: its value
  std::uint32_t feature;  // the highest bit: missing values go left
  std::int32_t left;      // of a leaf: negative
};
constexpr std::uint32_t kMissingLeft = 0x80000000U;

/// Nothing for a tree that splits by categories.
std::vector<FlatNode> flatten(const Tree& tree) {
  std::vector<FlatNode> flat;
  if (!tree.category_sets.empty()) return flat;
  flat.reserve(tree.nodes.size());
  for (const Node& node : tree.nodes) {
    if (node.is_leaf()) {
      flat.push_back({node.value, 0, -1});
    } else {
      flat.push_back({node.threshold, static_cast<std::uint32_t>(node.feature) | (node.missing_left ? kMissingLeft : 0),
                      node.left});
    }
  }
  return flat;
}

float leaf_value(const std::vector<FlatNode>& nodes, const float* row) {
  const FlatNode* node = nodes.data();
  while (node->left >= 0) {
    const float value = row[node->feature & ~kMissingLeft];
    const bool goes_left = value < node->threshold || (value != value && (node->feature & kMissingLeft) != 0);
    node = nodes.data() + node->left + (goes_left ? 0 : 1);
  }
  return node->threshold;
}

/// The same for any tree.
float leaf_value(const Tree& tree, const float* row) {
  const Node* node = tree.nodes.data();
  while (!node->is_leaf()) {
    node = tree.nodes.data() + node->left + (goes_left(tree, *node, row[node->feature]) ? 0 : 1);
  }
  return node->value;
}

}  // namespace

bool is_made_up(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (name.size() < 2 || name[0] != 'f' || name.find_first_not_of("0123456789", 1) != std::string::npos) return false;
  }
  return true;
}

std::vector<std::size_t> match_features(const std::vector<std::string>& wanted, const table::Schema& schema) {
  std::vector<std::size_t> places;
  if (is_made_up(wanted) != is_made_up(schema.features)) {
    // One side has no names: all that can be checked is the number of columns.
    if (wanted.size() != schema.features.size()) {
      throw_input_error(
          "the model has {} features, the data {} (one of them has no column names, so they are taken in order)",
          wanted.size(), schema.features.size());
    }
    for (std::size_t j = 0; j < wanted.size(); ++j) places.push_back(j);
    return places;
  }
  std::unordered_map<std::string, std::size_t> place_of;
  for (std::size_t j = 0; j < schema.features.size(); ++j) place_of.emplace(schema.features[j], j);
  std::string absent;
  for (const std::string& name : wanted) {
    const auto found = place_of.find(name);
    if (found == place_of.end()) {
      absent += (absent.empty() ? "" : ", ") + name;
    } else {
      places.push_back(found->second);
    }
  }
  if (!absent.empty()) throw_input_error("the data lacks columns that the model needs: {}", absent);
  return places;
}

void add_trees(std::span<const Tree> trees, std::size_t n_outputs, std::span<const std::span<const float>> features,
               int n_threads, std::span<float> margins) {
  const std::size_t n_rows = margins.size() / n_outputs;
  std::vector<std::vector<FlatNode>> flat;
  flat.reserve(trees.size());
  for (const Tree& tree : trees) flat.push_back(flatten(tree));
  constexpr std::size_t kGrainRows = 4096;
  parallel_for_slices(n_threads, n_rows, kGrainRows, [&](std::size_t begin, std::size_t end, int) {
    std::vector<float> tile(kTileRows * features.size());  // row by row
    for (std::size_t first = begin; first < end; first += kTileRows) {
      const std::size_t n = std::min(kTileRows, end - first);
      for (std::size_t j = 0; j < features.size(); ++j) {
        for (std::size_t i = 0; i < n; ++i) tile[i * features.size() + j] = features[j][first + i];
      }
      for (std::size_t t = 0; t < flat.size(); ++t) {
        float* const target = margins.data() + t % n_outputs * n_rows + first;
        if (trees[t].category_sets.empty()) {
          for (std::size_t i = 0; i < n; ++i) target[i] += leaf_value(flat[t], tile.data() + i * features.size());
        } else {
          for (std::size_t i = 0; i < n; ++i) target[i] += leaf_value(trees[t], tile.data() + i * features.size());
        }
      }
    }
  });
}

std::vector<std::span<const float>> feature_columns(const std::vector<std::string>& wanted, const table::Table& table) {
  std::vector<std::span<const float>> columns;
  for (const std::size_t j : match_features(wanted, table.schema())) columns.push_back(table.feature(j));
  return columns;
}

std::vector<float> start_margins(std::span<const double> base_margin, std::size_t n_rows) {
  std::vector<float> margins;
  margins.reserve(base_margin.size() * n_rows);
  for (const double base : base_margin) margins.insert(margins.end(), n_rows, static_cast<float>(base));
  return margins;
}

std::vector<float> predict_margins(const Model& model, const table::Table& table, int n_threads) {
  std::vector<float> margins = start_margins(model.base_margin, table.n_rows());
  add_trees(model.trees, model.n_outputs(), feature_columns(model.schema.features, table), n_threads, margins);
  return margins;
}

std::vector<float> predict(const Model& model, const table::Table& table, int n_threads) {
  std::vector<float> values = predict_margins(model, table, n_threads);
  const std::size_t n_rows = table.n_rows();
  const std::size_t n_outputs = model.n_outputs();
  if (model.options.objective == Objective::kSquaredError) return values;
  constexpr std::size_t kGrainRows = 4096;
  parallel_for_slices(n_threads, n_rows, kGrainRows, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t i = begin; i < end; ++i) {
      if (model.options.objective == Objective::kBinaryLogistic) {
        values[i] = static_cast<float>(sigmoid(values[i]));
        continue;
      }
      double largest = values[i];
      for (std::size_t k = 1; k < n_outputs; ++k) largest = std::max<double>(largest, values[k * n_rows + i]);
      double sum = 0;
      for (std::size_t k = 0; k < n_outputs; ++k) sum += portable_exp(values[k * n_rows + i] - largest);
      for (std::size_t k = 0; k < n_outputs; ++k) {
        float& value = values[k * n_rows + i];
        value = static_cast<float>(portable_exp(value - largest) / sum);
      }
    }
  });
  return values;
}

}  // namespace podere::tree
