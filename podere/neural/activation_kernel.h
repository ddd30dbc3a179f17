// Activation functions of hidden units, and their derivatives.
#pragma once

#include <cstddef>

#include "podere/neural/network.h"

namespace podere::neural {

/// Rows of the values of a layer's units [n_rows x stride], as Layer has them: 1 after the last unit, then 0.
struct Units {
  float* values;
  std::size_t n_rows;
  std::size_t n_units;
  std::size_t stride;
};

/// Replaces sums by activations, and sets what lies beyond the units.
void activate(Activation activation, const Units& sums);

/// Multiplies derivatives of the loss by activations, [n_rows x stride] as `activations`, by the slope there:
/// derivatives by sums. For relu the slope at 0 is 0.
void multiply_by_slope(Activation activation, const Units& activations, float* derivatives);

}  // namespace podere::neural
