#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "podere/tree/gradient_kernel.cc"
#include "podere/tree/gradient_kernel.h"

#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "podere/base/portable_math.h"

// Plain loops that the compiler makes vectors of, once for each kind of machine. No operation here is rounded in
// another way on another machine (portable_math.h), so neither is the model.
HWY_BEFORE_NAMESPACE();
namespace podere::tree::HWY_NAMESPACE {

constexpr double kLeastHessian = 1e-16;  // as XGBoost: keeps a leaf of saturated rows from dividing by nothing

/// Sum of losses[0 .. n) as eight interleaved sums.
double SumInLanes(const double* losses, std::size_t n) {
  double lanes[8] = {};
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (std::size_t lane = 0; lane < 8; ++lane) lanes[lane] += losses[i + lane];
  }
  for (std::size_t lane = 0; i < n; ++i, ++lane) lanes[lane] += losses[i];
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

double Logistic(const GradientBlock& block) {
  double losses[table::kBlockRows];
  for (std::size_t i = 0; i < block.n; ++i) {
    const double m = block.margin[i];
    const double y = block.label[i];
    const double w = block.weight[i];
    const double magnitude = m < 0 ? -m : m;
    const double e = portable_exp(-magnitude);
    const double p_likelier = 1 / (1 + e);  // of the class on the margin's side
    const double p = m < 0 ? e * p_likelier : p_likelier;
    const double h = p_likelier * (e * p_likelier);
    block.gradient[i] = {static_cast<float>(w * (p - y)),
                         static_cast<float>(w * (h > kLeastHessian ? h : kLeastHessian))};
    const double toward_label = y > 0.5 ? m : -m;
    losses[i] = w * ((toward_label < 0 ? -toward_label : 0.0) + portable_log(1 + e));
  }
  return SumInLanes(losses, block.n);
}

double Softmax(const GradientBlock& block) {
  double largest[table::kBlockRows];
  double sum[table::kBlockRows] = {};
  double losses[table::kBlockRows] = {};
  for (std::size_t i = 0; i < block.n; ++i) largest[i] = block.margin[i];
  for (std::size_t k = 1; k < block.n_outputs; ++k) {
    const float* const margin = block.margin + k * block.stride;
    for (std::size_t i = 0; i < block.n; ++i) largest[i] = margin[i] > largest[i] ? margin[i] : largest[i];
  }
  for (std::size_t k = 0; k < block.n_outputs; ++k) {
    const float* const margin = block.margin + k * block.stride;
    for (std::size_t i = 0; i < block.n; ++i) sum[i] += portable_exp(margin[i] - largest[i]);
  }
  for (std::size_t k = 0; k < block.n_outputs; ++k) {
    const float* const margin = block.margin + k * block.stride;
    Gradient* const gradient = block.gradient + k * block.stride;
    for (std::size_t i = 0; i < block.n; ++i) {
      const double w = block.weight[i];
      const double p = portable_exp(margin[i] - largest[i]) / sum[i];
      const double y = block.label[i] == static_cast<float>(k) ? 1.0 : 0.0;
      const double h = 2 * p * (1 - p);
      gradient[i] = {static_cast<float>(w * (p - y)), static_cast<float>(w * (h > kLeastHessian ? h : kLeastHessian))};
      losses[i] += y * w * (portable_log(sum[i]) - (margin[i] - largest[i]));
    }
  }
  return SumInLanes(losses, block.n);
}

double SquaredError(const GradientBlock& block) {
  double losses[table::kBlockRows];
  for (std::size_t i = 0; i < block.n; ++i) {
    const double w = block.weight[i];
    const double residual = static_cast<double>(block.margin[i]) - block.label[i];
    block.gradient[i] = {static_cast<float>(w * residual), static_cast<float>(w)};
    losses[i] = w * residual * residual / 2;
  }
  return SumInLanes(losses, block.n);
}

double Poisson(const GradientBlock& block) {
  double losses[table::kBlockRows];
  for (std::size_t i = 0; i < block.n; ++i) {
    const double m = block.margin[i];
    const double y = block.label[i];
    const double w = block.weight[i];
    const double p = portable_exp(m);
    block.gradient[i] = {static_cast<float>(w * (p - y)), static_cast<float>(w * p * block.hessian_factor)};
    const double y_or_1 = y > 0 ? y : 1.0;  // 0 log 0 = 0
    losses[i] = w * (y * (portable_log(y_or_1) - m) - y + p);
  }
  return SumInLanes(losses, block.n);
}

double Quantile(const GradientBlock& block) {
  double losses[table::kBlockRows];
  for (std::size_t i = 0; i < block.n; ++i) {
    const double w = block.weight[i];
    const double residual = static_cast<double>(block.margin[i]) - block.label[i];
    const double slope = residual >= 0 ? 1 - block.quantile : -block.quantile;
    block.gradient[i] = {static_cast<float>(w * slope), static_cast<float>(w)};
    losses[i] = w * slope * residual;
  }
  return SumInLanes(losses, block.n);
}

}  // namespace podere::tree::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace podere::tree {

HWY_EXPORT(Logistic);
HWY_EXPORT(Softmax);
HWY_EXPORT(SquaredError);
HWY_EXPORT(Poisson);
HWY_EXPORT(Quantile);

double logistic_gradients(const GradientBlock& block) { return HWY_DYNAMIC_DISPATCH(Logistic)(block); }
double softmax_gradients(const GradientBlock& block) { return HWY_DYNAMIC_DISPATCH(Softmax)(block); }
double squared_error_gradients(const GradientBlock& block) { return HWY_DYNAMIC_DISPATCH(SquaredError)(block); }
double poisson_gradients(const GradientBlock& block) { return HWY_DYNAMIC_DISPATCH(Poisson)(block); }
double quantile_gradients(const GradientBlock& block) { return HWY_DYNAMIC_DISPATCH(Quantile)(block); }

}  // namespace podere::tree
#endif
