#include "podere/neural/inputs.h"

#include <algorithm>
#include <string_view>

#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/base/printable.h"

namespace podere::neural {
namespace {

/// FNV-1a.
std::uint64_t hash_text(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

/// Two different places among `n` >= 2.
std::array<std::uint32_t, 2> hashed_places(std::string_view text, std::uint32_t n) {
  const std::uint64_t hash = hash_text(text);
  const auto first = static_cast<std::uint32_t>(hash64(hash, 0, 0) % n);
  const auto step = static_cast<std::uint32_t>(1 + hash64(hash, 1, 0) % (n - 1));
  return {first, (first + step) % n};
}

}  // namespace

Inputs::Inputs(const table::Schema& schema, int one_hot) {
  const auto width = static_cast<std::uint32_t>(one_hot);
  for (std::size_t j = 0; j < schema.features.size(); ++j) {
    features_.push_back({n_inputs_, 0, places_.size()});
    const auto found = schema.categories.find(j);
    if (found == schema.categories.end()) {
      ++n_inputs_;
      continue;
    }
    if (!found->second || found->second->empty()) {
      throw_input_error("{} has codes of categories, a network needs their texts", printable(schema.features[j]));
    }
    const table::CategoryTexts& texts = *found->second;
    features_.back().n_categories = texts.size();
    const auto first = static_cast<std::uint32_t>(n_inputs_);
    for (std::uint32_t k = 0; k < texts.size(); ++k) {
      std::array<std::uint32_t, 2> places = {k, k};
      if (texts.size() > width) places = hashed_places(texts[k], width);
      places_.push_back({first + places[0], first + places[1]});
    }
    n_inputs_ += std::min<std::size_t>(texts.size(), width);
  }
}

void Inputs::expand(const float* features, float* inputs) const {
  std::fill_n(inputs, n_inputs_, 0.0F);
  for (std::size_t j = 0; j < features_.size(); ++j) {
    const Feature& feature = features_[j];
    if (feature.n_categories == 0) {
      inputs[feature.first_input] = features[j];
    } else if (features[j] >= 0 && features[j] < static_cast<float>(feature.n_categories)) {
      const auto& places = places_[feature.first_place + static_cast<std::size_t>(features[j])];
      inputs[places[0]] = inputs[places[1]] = 1;
    }
  }
}

}  // namespace podere::neural
