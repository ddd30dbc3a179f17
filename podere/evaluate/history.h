// How the loss of a model went while it was trained.
#pragma once

#include <cstddef>
#include <vector>

#include "podere/base/json.h"

namespace podere::evaluate {

/// Losses after each round, or epoch; those of validation are empty where nothing was set aside.
struct History {
  std::vector<double> train_loss;
  std::vector<double> validation_loss;
  /// Of rounds after the best, which early stopping took off the model.
  std::vector<double> later_train_loss = {};
  std::vector<double> later_validation_loss = {};

  /// The first `n` stay those of the model; the others are later ones.
  void keep(std::size_t n);
  bool operator==(const History&) const = default;
};

/// As model files have it: later ones only where there are.
Json to_json(const History& history);
/// Inverse of to_json. Throws InputError for a loss that is no number, or a JSON exception for one that is missing.
History history_from_json(const Json& json);

}  // namespace podere::evaluate
