// Steps of stochastic gradient descent.
#pragma once

#include <cstddef>

namespace podere::neural {

/// What a step changes, element by element, each [n].
struct DescentArrays {
  const double* gradient;
  float* weights;
  float* first;   ///< velocity of sgd; mean gradient of adam
  float* second;  ///< mean squared gradient of adam
  std::size_t n;
};

/// v = momentum v + g, w -= learning_rate v. (PyTorch's form: the learning rate is outside the velocity.)
void step_sgd(const DescentArrays& arrays, double learning_rate, double momentum);

struct AdamNumbers {
  double learning_rate;
  double beta1;
  double beta2;
  double epsilon;
  double bias1;  ///< 1 - beta1^t at step t = 1, 2, ...
  double bias2;  ///< 1 - beta2^t
};
/// m = beta1 m + (1 - beta1) g, v = beta2 v + (1 - beta2) g^2,
/// w -= learning_rate m / bias1 / (sqrt(v / bias2) + epsilon)
/// Source: Kingma and Ba, ICLR 2015, algorithm 1.
void step_adam(const DescentArrays& arrays, const AdamNumbers& numbers);

}  // namespace podere::neural
