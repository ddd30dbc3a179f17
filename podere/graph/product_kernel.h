// Convolutions and matrix products.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "podere/graph/activation.h"
#include "podere/graph/window.h"

namespace podere::graph {

/// Channels of a panel of packed weights: the last panel of a group has half of them if that is enough.
constexpr std::size_t kPanel = 32;

/// out[pixel][j] = activation(residual[pixel][j] + sum over s of window(pixel)[s] * weights[s][j], from bias[j] on),
/// for each group of channels. s runs over kernel rows, kernel columns, input channels, in this order: each element is
/// one chain of fused multiply-adds, whatever the vectors, blocks and threads.
struct Product {
  Image in;   // c: all channels
  Image out;  // c: all channels
  Window window;
  std::size_t n_groups = 1;
  const float* input = nullptr;
  const float* weights = nullptr;   // packed
  const float* bias = nullptr;      // of each group whole panels, as packed
  const float* residual = nullptr;  // or none
  std::size_t residual_stride = 0;
  float* output = nullptr;
  Activation activation = {};

  std::size_t depth() const { return window.n_taps() * (in.c / n_groups); }  // of a sum
};

/// Floats of the packed weights of one group, and of its bias.
std::size_t packed_channels(std::size_t n_channels);

/// Weights [depth][n_channels] of one group, by panels: [panel][depth][kPanel].
void pack(std::span<const float> weights, std::size_t depth, std::size_t n_channels, float* packed);

/// How a product is split into tasks.
class ProductTasks {
 public:
  ProductTasks(const Product& product, int n_threads);
  std::size_t size() const { return n_blocks_ * n_parts_ * n_groups_; }

 private:
  friend struct ProductTask;
  std::size_t n_blocks_;  // of pixels
  std::size_t n_parts_;   // of panels
  std::size_t n_groups_;
};

/// Floats that a thread needs beside inputs and outputs.
std::size_t product_scratch();

void multiply(const Product& product, const ProductTasks& tasks, std::size_t task, float* scratch);

/// What a task covers.
struct ProductTask {
  ProductTask(const Product& product, const ProductTasks& tasks, std::size_t task);
  std::size_t group;
  std::size_t first_pixel, end_pixel;
  std::size_t first_panel, end_panel;
};

}  // namespace podere::graph
