// The weights of a dense network, and how they lie in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "podere/neural/options.h"

namespace podere::neural {

/// Rows of values lie on whole runs of so many floats, as wide as the widest vectors.
inline constexpr std::size_t kLanes = 16;
/// Rows that go through a network together: their activations stay in the nearest cache.
inline constexpr std::size_t kTileRows = 64;

/// Weights that are worth a thread's while.
inline constexpr std::size_t kGrainWeights = 16384;

constexpr std::size_t round_up(std::size_t n, std::size_t unit) { return (n + unit - 1) / unit * unit; }

/// Where the weights of a layer lie among those of all layers: [n_outputs x stride()] from `offset`, an output a row.
///
///        | input 0 | input 1 | ... | input n-1 | bias | 0 ... 0 |
///
/// Inputs lie alike, a row each, with 1 in the place of the bias: so the bias is a weight as any other. What lies
/// beyond it is zero, and stays zero: gradients there are sums of products with zeros.
struct Layer {
  std::size_t n_inputs;
  std::size_t n_outputs;
  std::size_t offset;

  std::size_t stride() const { return round_up(n_inputs + 1, kLanes); }
  std::size_t size() const { return n_outputs * stride(); }
  template <typename T>
  T* of(T* all) const {
    return all + offset;
  }
  /// Outputs of hidden layers are the inputs of the next one.
  std::size_t output_stride() const { return round_up(n_outputs + 1, kLanes); }
};

/// The layers of a network, the last of which gives the outputs.
class Layout {
 public:
  Layout() = default;
  Layout(std::size_t n_features, std::span<const int> hidden, std::size_t n_outputs);

  const std::vector<Layer>& layers() const { return layers_; }
  const Layer& layer(std::size_t l) const { return layers_[l]; }
  std::size_t n_layers() const { return layers_.size(); }
  std::size_t n_features() const { return layers_.front().n_inputs; }
  std::size_t n_outputs() const { return layers_.back().n_outputs; }
  /// Floats that hold all weights, with what lies between them.
  std::size_t size() const { return layers_.back().offset + layers_.back().size(); }
  /// Weights and biases.
  std::size_t n_weights() const;

 private:
  std::vector<Layer> layers_;
};

/// Weights to start from, by hash of (seed, layer, output, input), uniform in [-a, a):
///   Glorot   a = sqrt(6 / (n_inputs + n_outputs)); biases are 0
///   He       a = sqrt(6 / n_inputs) in hidden layers, as Glorot in the last; biases are 0
///   PyTorch  a = sqrt(1 / n_inputs), of biases too
/// Sources: Glorot and Bengio, AISTATS 2010, equation 16; He, Zhang, Ren, Sun, ICCV 2015, section 2.2; torch.nn.Linear.
std::vector<float> initial_weights(const Layout& layout, Initialization initialization, std::uint64_t seed);

/// The weights of a layer as others have them, without what lies between: [n_outputs x n_inputs], an output a row, and
/// biases [n_outputs].
struct WeightsAndBiases {
  std::vector<float> weights;
  std::vector<float> biases;
};
WeightsAndBiases weights_and_biases(const Layer& layer, std::span<const float> all_weights);

/// Whether none is infinite or NaN.
bool are_finite(std::span<const float> weights);

}  // namespace podere::neural
