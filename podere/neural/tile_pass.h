// One tile of rows forward and back through a network, in the nearest cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "podere/base/exact_sum.h"
#include "podere/base/huge_array.h"
#include "podere/neural/network.h"
#include "podere/neural/options.h"

namespace podere::neural {

/// Weights as passes read them: as they are, and each layer's input by input too.
class PassWeights {
 public:
  explicit PassWeights(const Layout& layout);
  /// Takes the weights as they are now. `weights` [layout.size()]
  void set(std::span<const float> weights, int n_threads);

  const float* by_output(std::size_t l) const { return layout_.layer(l).of(by_output_.data()); }
  /// [n_inputs + 1 x round_up(n_outputs, kLanes)]; none for a last layer of few outputs.
  const float* by_input(std::size_t l) const { return by_input_.data() + by_input_offsets_[l]; }

 private:
  const Layout& layout_;
  HugeArray<float> by_output_;
  HugeArray<float> by_input_;
  std::vector<std::size_t> by_input_offsets_;
};

/// What passes add to, exactly.
struct GradientSum {
  explicit GradientSum(std::size_t n) : gradient(n), loss() {}
  std::vector<std::int64_t> gradient;  ///< sum of derivatives by weights, scaled by 2^exponent
  std::uint32_t largest = 0;           ///< as add_scaled returns it, over all tiles
  ExactSum loss;                       ///< sum of weighted losses
};

/// Features of the rows that a thread comes to next: fetched from memory a few at a time while it computes. All at once
/// they would delay each other, and the computing.
class NextRows {
 public:
  /// Of wide rows the beginnings only: what follows comes by itself.
  explicit NextRows(std::size_t n_floats) : n_floats_(n_floats < 64 ? n_floats : 64) {}
  void clear() { n_ = fetched_ = 0; }
  void add(const float* row) { rows_[n_++] = row; }
  /// Fetches another of `n_parts` equal parts of the rows, if any are left.
  void fetch_part(std::size_t n_parts) {
    for (std::size_t left = (n_ + n_parts - 1) / n_parts; left > 0 && fetched_ < n_; --left, ++fetched_) {
      for (std::size_t j = 0; j < n_floats_; j += kLanes) __builtin_prefetch(rows_[fetched_] + j);
    }
  }

 private:
  std::size_t n_floats_;
  std::size_t n_ = 0;
  std::size_t fetched_ = 0;
  const float* rows_[kTileRows];
};

/// Rows of a tile, at most kTileRows.
struct TileRows {
  const float* inputs;  ///< [n_rows x stride of the first layer]
  const float* label;   ///< [n_rows]
  const float* weight;  ///< [n_rows]
  std::size_t n_rows;
  std::uint64_t dropout_key;         ///< of this step; not looked at without dropout
  const std::uint64_t* global_rows;  ///< [n_rows]; not looked at without dropout
  NextRows* next = nullptr;          ///< fetched by add_gradient
};

/// The memory of one thread that takes tiles through a network.
class TilePass {
 public:
  /// All outlive this.
  TilePass(const Layout& layout, const Options& options);

  /// Adds the tile's loss and gradient, rounded to multiples of 2^-exponent. The same bits in any thread.
  void add_gradient(const PassWeights& weights, const TileRows& rows, int exponent, GradientSum& sum);
  /// Outputs before the last activation, [n_outputs x kTileRows], of rows whose labels are not looked at. They stay
  /// until the next call.
  std::span<float> outputs(const PassWeights& weights, const float* inputs, std::size_t n_rows);

 private:
  void forward(const PassWeights& weights, const TileRows& rows, bool drops);
  void drop_out(const TileRows& rows, std::size_t l);

  const Layout& layout_;
  const Options& options_;
  // Of hidden layer l [kTileRows x output_stride]: what it gives out, and the derivatives by its sums.
  std::vector<HugeArray<float>> activations_;
  std::vector<HugeArray<float>> derivatives_;
  // With dropout only: factors of the activations, 0 or 1 / (1 - dropout), and activations times these.
  std::vector<HugeArray<float>> factors_;
  std::vector<HugeArray<float>> dropped_;
  HugeArray<float> outputs_;   // [n_outputs x kTileRows], then derivatives by them
  HugeArray<float> sums_;      // [kTileRows x round_up(n_outputs, kLanes)] of a last layer of many outputs
  HugeArray<float> gradient_;  // some rows of a layer's gradient
};

}  // namespace podere::neural
