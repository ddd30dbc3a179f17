// Windows that slide over each channel by itself: depthwise convolutions and pooling.
#pragma once

#include <cstddef>

#include "podere/graph/activation.h"
#include "podere/graph/window.h"

namespace podere::graph {

enum class Over { kWeights, kMaximum, kAverage, kAverageWithPadding };

struct Sliding {
  Over over = Over::kMaximum;
  Image in;
  Image out;
  Window window;
  const float* input = nullptr;
  const float* weights = nullptr;  // [taps][padded_channels]
  const float* bias = nullptr;     // [padded_channels]
  float* output = nullptr;
  Activation activation = {};
};

/// Channels of weights: whole vectors of any instruction set.
constexpr std::size_t padded_channels(std::size_t n) { return (n + 15) / 16 * 16; }

/// One row of output pixels, of out.n * out.h. Sums begin at the bias and go by kernel rows and columns; taps beyond
/// the picture are left out. An average divides by the taps inside the picture (kAverage), or inside picture and
/// padding.
void slide(const Sliding& sliding, std::size_t row);

}  // namespace podere::graph
