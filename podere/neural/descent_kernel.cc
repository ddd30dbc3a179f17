#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "podere/neural/descent_kernel.cc"
#include "podere/neural/descent_kernel.h"

#include <cmath>

#include "hwy/foreach_target.h"
#include "hwy/highway.h"

// Plain loops that the compiler makes vectors of, once for each kind of machine. Every operation is rounded alike
// everywhere, the square root too.
HWY_BEFORE_NAMESPACE();
namespace podere::neural::HWY_NAMESPACE {

void StepSgd(const DescentArrays& a, double learning_rate, double momentum) {
  for (std::size_t i = 0; i < a.n; ++i) {
    const double v = momentum * a.first[i] + a.gradient[i];
    a.first[i] = static_cast<float>(v);
    a.weights[i] = static_cast<float>(a.weights[i] - learning_rate * v);
  }
}

void StepAdam(const DescentArrays& a, const AdamNumbers& k) {
  const double step = k.learning_rate / k.bias1;
  const double by_root_bias2 = 1 / std::sqrt(k.bias2);
  for (std::size_t i = 0; i < a.n; ++i) {
    const double g = a.gradient[i];
    const double m = k.beta1 * a.first[i] + (1 - k.beta1) * g;
    const double v = k.beta2 * a.second[i] + (1 - k.beta2) * g * g;
    a.first[i] = static_cast<float>(m);
    a.second[i] = static_cast<float>(v);
    a.weights[i] = static_cast<float>(a.weights[i] - step * m / (std::sqrt(v) * by_root_bias2 + k.epsilon));
  }
}

}  // namespace podere::neural::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace podere::neural {

HWY_EXPORT(StepSgd);
HWY_EXPORT(StepAdam);

void step_sgd(const DescentArrays& arrays, double learning_rate, double momentum) {
  HWY_DYNAMIC_DISPATCH(StepSgd)(arrays, learning_rate, momentum);
}
void step_adam(const DescentArrays& arrays, const AdamNumbers& numbers) {
  HWY_DYNAMIC_DISPATCH(StepAdam)(arrays, numbers);
}

}  // namespace podere::neural
#endif
