// Losses of a tile of rows, and their derivatives by the network's outputs.
#pragma once

#include <cstddef>

#include "podere/neural/network.h"

namespace podere::neural {

/// Outputs of a tile before the last activation, output by output: [n_outputs x kTileRows], of which the first n_rows
/// count.
struct TileOutputs {
  float* values;
  std::size_t n_outputs;
  std::size_t n_rows;
  const float* label;   ///< [n_rows], checked
  const float* weight;  ///< [n_rows]
};

/// Replaces outputs by the derivatives of the weighted loss by them, and returns the sum of the weighted losses.
///
///   binary cross-entropy   p = 1 / (1 + exp(-z))      loss = -w log p_y           derivative = w (p - y)
///   cross-entropy          p = exp(z_k) / sum         loss = -w log p_y           derivative = w (p_k - [y = k])
///   squared error                                     loss = w (z - y)^2 / 2      derivative = w (z - y)
///
/// In double, of operations that are rounded alike everywhere, and in a fixed order.
double differentiate_loss(Loss loss, const TileOutputs& outputs);

/// Replaces outputs by what they mean: the probability of class 1, probabilities, or the number itself.
void predict_from_outputs(Loss loss, const TileOutputs& outputs);

}  // namespace podere::neural
