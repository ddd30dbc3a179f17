// What the first layer of a network gets of the features of a row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
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
  /// The inputs of a feature: [begin, end).
  std::array<std::size_t, 2> inputs_of(std::size_t feature) const {
    const bool is_last = feature + 1 == features_.size();
    return {features_[feature].first_input, is_last ? n_inputs_ : features_[feature + 1].first_input};
  }
  /// For each category of a feature, the inputs that it sets: two, or one of them twice.
  std::span<const std::array<std::uint32_t, 2>> inputs_of_categories(std::size_t feature) const {
    return std::span(places_).subspan(features_[feature].first_place, features_[feature].n_categories);
  }

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
