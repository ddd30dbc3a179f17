#include "podere/neural/network.h"

#include <bit>
#include <cmath>

#include "podere/base/hash.h"
#include "podere/neural/streams.h"

namespace podere::neural {
namespace {

double largest_initial_weight(const Layer& layer, Initialization initialization, bool is_hidden) {
  const auto n_inputs = static_cast<double>(layer.n_inputs);
  if (initialization == Initialization::kPytorch) return std::sqrt(1 / n_inputs);
  if (initialization == Initialization::kHe && is_hidden) return std::sqrt(6 / n_inputs);
  return std::sqrt(6 / (n_inputs + static_cast<double>(layer.n_outputs)));
}

}  // namespace

Layout::Layout(std::size_t n_features, std::span<const int> hidden, std::size_t n_outputs) {
  std::size_t n_inputs = n_features;
  std::size_t offset = 0;
  const auto add = [&](std::size_t n) {
    layers_.push_back({n_inputs, n, offset});
    offset += layers_.back().size();
    n_inputs = n;
  };
  for (const int width : hidden) add(static_cast<std::size_t>(width));
  add(n_outputs);
}

std::size_t Layout::n_weights() const {
  std::size_t n = 0;
  for (const Layer& layer : layers_) n += (layer.n_inputs + 1) * layer.n_outputs;
  return n;
}

std::vector<float> initial_weights(const Layout& layout, Initialization initialization, std::uint64_t seed) {
  std::vector<float> weights(layout.size(), 0.0F);
  for (std::size_t l = 0; l < layout.n_layers(); ++l) {
    const Layer& layer = layout.layer(l);
    const bool is_hidden = l + 1 < layout.n_layers();
    const double a = largest_initial_weight(layer, initialization, is_hidden);
    const std::uint64_t key = hash64(seed, kWeightStream, l);
    const std::size_t n_drawn = layer.n_inputs + (initialization == Initialization::kPytorch ? 1 : 0);  // the bias last
    for (std::size_t j = 0; j < layer.n_outputs; ++j) {
      float* const row = layer.of(weights.data()) + j * layer.stride();
      for (std::size_t i = 0; i < n_drawn; ++i) {
        row[i] = static_cast<float>(a * (2 * uniform01(hash64(key, j, i)) - 1));
      }
    }
  }
  return weights;
}

WeightsAndBiases weights_and_biases(const Layer& layer, std::span<const float> all_weights) {
  WeightsAndBiases values;
  values.weights.reserve(layer.n_outputs * layer.n_inputs);
  for (std::size_t j = 0; j < layer.n_outputs; ++j) {
    const float* const row = layer.of(all_weights.data()) + j * layer.stride();
    values.weights.insert(values.weights.end(), row, row + layer.n_inputs);
    values.biases.push_back(row[layer.n_inputs]);
  }
  return values;
}

bool are_finite(std::span<const float> weights) {
  constexpr std::uint32_t kExponent = 0x7f800000;  // all of its bits are set in what is not
  std::uint32_t n_not = 0;                         // counted, not searched for: so the compiler makes vectors of it
  for (const float w : weights) n_not += (std::bit_cast<std::uint32_t>(w) & kExponent) == kExponent ? 1 : 0;
  return n_not == 0;
}

}  // namespace podere::neural
