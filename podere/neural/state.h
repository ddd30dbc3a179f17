// What a training run needs to resume.
#pragma once

#include <cmath>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "podere/base/error.h"

namespace podere::neural {

/// Numbers of a run in progress, by name. Nothing in it depends on the number of executors or threads.
struct TrainState {
  std::map<std::string, std::vector<double>> numbers;  ///< counters too: whole numbers below 2^53
  bool operator==(const TrainState&) const = default;
};

/// Those of a name. Throws InputError unless there are `n` of them.
inline const std::vector<double>& numbers_of(const TrainState& state, const char* name, std::size_t n) {
  const auto found = state.numbers.find(name);
  if (found == state.numbers.end() || found->second.size() != n) {
    throw_input_error("the checkpoint is of another run: it has no {} of {} numbers", name, n);
  }
  return found->second;
}

/// The i-th of `n` numbers of a name as a counter. Throws InputError unless it is a whole number from 0.
inline std::size_t counter_of(const TrainState& state, const char* name, std::size_t n, std::size_t i) {
  const double value = numbers_of(state, name, n)[i];
  if (!(value >= 0 && value < 0x1p53 && value == std::floor(value))) {
    throw_input_error("the checkpoint is damaged: {} is no counter of {}", value, name);
  }
  return static_cast<std::size_t>(value);
}

inline void save_weights(std::span<const float> weights, TrainState& state) {
  state.numbers["weights"].assign(weights.begin(), weights.end());
}
/// Inverse of save_weights.
inline void load_weights(const TrainState& state, std::span<float> weights) {
  const std::vector<double>& numbers = numbers_of(state, "weights", weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(numbers[i]);
}

}  // namespace podere::neural
