// What the first layer of a network gets of the features of a row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "podere/table/table.h"

namespace podere::neural {

/// Inputs of each feature, in the order of the features: a number is one. A category of a feature with at most
/// `one_hot` of them sets one of as many inputs to 1, the others to 0 (one-hot). A category of a feature with more sets
/// two of `one_hot` inputs, found by hashes of its text, so that few categories have both in common (J. Serrà and
/// A. Karatzoglou, "Getting deep recommenders fit: Bloom embeddings", RecSys 2017). A missing category sets none.
class Inputs {
 public:
  /// Throws InputError for a feature of codes without texts.
  Inputs(const table::Schema& schema, int one_hot);

  std::size_t n_features() const { return features_.size(); }
  std::size_t n_inputs() const { return n_inputs_; }
  bool has_categories() const { return !places_.empty(); }
  bool is_category(std::size_t feature) const { return features_[feature].n_categories > 0; }

  /// Sets `inputs` [n_inputs] from `features` [n_features], of which numbers are taken as they are and categories are
  /// codes; what is no code counts as missing.
  void expand(const float* features, float* inputs) const;

 private:
  struct Feature {
    std::size_t first_input = 0;
    std::size_t n_categories = 0;  // 0: a number
    std::size_t first_place = 0;   // in places_
  };
  std::vector<Feature> features_;
  std::vector<std::array<std::uint32_t, 2>> places_;  // of each category of each feature: inputs that are 1
  std::size_t n_inputs_ = 0;
};

}  // namespace podere::neural
