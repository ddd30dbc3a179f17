// Boosted trees as a value, and as a file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "podere/evaluate/history.h"
#include "podere/table/same_run.h"
#include "podere/table/table.h"
#include "podere/tree/options.h"

namespace podere::tree {

/// A node of a tree. A row goes left when its value is below the threshold, or missing and `missing_left`. Where there
/// is a category set, a row goes right when its category is in the set.
struct Node {
  float threshold = 0;
  std::int32_t feature = -1;  ///< -1: a leaf
  std::int32_t left = -1;     ///< the right child is left + 1
  bool missing_left = false;
  float value = 0;                 ///< of a leaf: added to the margin
  float gain = 0;                  ///< of the split: the fall of the loss, as in XGBoost (twice the Taylor term)
  float cover = 0;                 ///< sum of hessians of the training rows here
  std::int32_t category_set = -1;  ///< which of the tree's sets; -1: the split is by threshold
  std::int32_t linear_part = -1;   ///< of a leaf: which of the tree's; -1: it has its value alone
  bool is_leaf() const { return feature < 0; }
  bool operator==(const Node&) const = default;
};

/// What a leaf adds to the margin of a row that has a value of each of `features`: the constant and the sum of
/// coefficients[i] * value of features[i]. A row that lacks one gets the leaf's `value`. Only models of other programs
/// have these.
struct LinearPart {
  double constant = 0;
  std::vector<std::int32_t> features = {};  ///< numeric ones
  std::vector<double> coefficients = {};    ///< [features]
  bool operator==(const LinearPart&) const = default;
};

/// Node 0 is the root; children come after their parent.
struct Tree {
  std::vector<Node> nodes = {};
  std::vector<std::vector<std::int32_t>> category_sets = {};  ///< codes, rising, that go right
  std::vector<LinearPart> linear_parts = {};
  bool operator==(const Tree&) const = default;
};

/// Whether a row whose value of `node.feature` is `value` goes left at `node`, no leaf, of `tree`.
inline bool goes_left(const Tree& tree, const Node& node, float value) {
  if (value != value) return node.missing_left;
  if (node.category_set < 0) return value < node.threshold;
  const std::vector<std::int32_t>& right = tree.category_sets[static_cast<std::size_t>(node.category_set)];
  // Codes are exact as float32. What is no code, such as a fraction, is in no set.
  const auto code_of = [](std::int32_t code) { return static_cast<float>(code); };
  const auto found = std::ranges::lower_bound(right, value, {}, code_of);
  return found == right.end() || code_of(*found) != value;
}

using evaluate::History;

/// Boosted trees. margin[k] = base_margin[k] + sum over trees t with t % n_outputs() == k.
struct Model {
  table::Schema schema;
  Options options;  ///< as trained; n_classes filled in
  std::vector<double> base_margin;
  std::vector<Tree> trees;
  History history;
  std::optional<table::DataFingerprint> rows = {};  ///< of a checkpoint: what it is trained on

  /// 1, or the number of classes for softmax.
  std::size_t n_outputs() const { return base_margin.size(); }
  std::size_t n_rounds() const { return trees.size() / n_outputs(); }
};

/// Throws InputError for a model that cannot be used: trees that could lead out of bounds, numbers that are not finite,
/// features without names, with the same name or with one that is not UTF-8.
void validate(const Model& model);

/// Whether a leaf of `model` has a linear part.
bool has_linear_parts(const Model& model);

/// What each feature did for the model, summed over all splits [n_features].
struct Importance {
  std::vector<double> gain;
  std::vector<std::uint64_t> split;
  std::vector<double> cover;
};
Importance importance(const Model& model);

/// The model file's content: JSON with format, version, checksum, schema.
std::string to_text(const Model& model);
/// Inverse of to_text. Throws InputError, beginning with `name`, for text that is not a whole, unaltered model of
/// this or an earlier version; trees that could lead out of bounds are refused too.
Model from_text(const std::string& text, const std::string& name);
/// Whether a text is meant to be such a model, whole or not.
bool is_trees_text(const std::string& text);
/// from_text of a file.
Model load_model(const std::filesystem::path& path);

}  // namespace podere::tree
