// The derivatives of the rows of one row block.
#pragma once

#include <cstddef>

#include "podere/tree/gradient.h"

namespace podere::tree {

/// Rows [0, n) of a block, n <= table::kBlockRows. margin[k] and gradient[k] of output k are k * stride apart.
struct GradientBlock {
  const float* margin;
  const float* label;
  const float* weight;
  Gradient* gradient;
  std::size_t n;
  std::size_t stride;
  std::size_t n_outputs;
  double quantile;        ///< of the quantile objective
  double hessian_factor;  ///< of the Poisson objective: exp(max_delta_step)
};

/// Each sets the block's gradients and returns the sum of its losses, added up in an order that depends on n alone.
double logistic_gradients(const GradientBlock& block);
double softmax_gradients(const GradientBlock& block);
double squared_error_gradients(const GradientBlock& block);
double poisson_gradients(const GradientBlock& block);
double quantile_gradients(const GradientBlock& block);

}  // namespace podere::tree
