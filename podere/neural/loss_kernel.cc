#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "podere/neural/loss_kernel.cc"
#include "podere/neural/loss_kernel.h"

#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "podere/base/portable_math.h"

// Plain loops that the compiler makes vectors of, once for each kind of machine (portable_math.h).
HWY_BEFORE_NAMESPACE();
namespace podere::neural::HWY_NAMESPACE {

/// Sum of losses[0 .. kTileRows) by halves; those beyond the rows are 0.
double SumByHalves(double* losses) {
  for (std::size_t n = kTileRows / 2; n > 0; n /= 2) {
    for (std::size_t i = 0; i < n; ++i) losses[i] += losses[i + n];
  }
  return losses[0];
}

double BinaryCrossEntropy(const TileOutputs& t) {
  double losses[kTileRows] = {};
  for (std::size_t i = 0; i < t.n_rows; ++i) {
    const double z = t.values[i];
    const double w = t.weight[i];
    const double e = portable_exp(z < 0 ? z : -z);
    const double p_likelier = 1 / (1 + e);
    const double p = z < 0 ? e * p_likelier : p_likelier;
    const double toward_label = t.label[i] > 0.5F ? z : -z;
    losses[i] = w * ((toward_label < 0 ? -toward_label : 0.0) + portable_log(1 + e));
    t.values[i] = static_cast<float>(w * (p - t.label[i]));
  }
  return SumByHalves(losses);
}

/// Replaces outputs by exp(z - largest); `sum` [kTileRows] is that of each row, `largest` [kTileRows] what was
/// subtracted.
void ExponentialsInPlace(const TileOutputs& t, double* largest, double* sum) {
  for (std::size_t i = 0; i < t.n_rows; ++i) largest[i] = t.values[i];
  for (std::size_t k = 1; k < t.n_outputs; ++k) {
    const float* const z = t.values + k * kTileRows;
    for (std::size_t i = 0; i < t.n_rows; ++i) largest[i] = z[i] > largest[i] ? z[i] : largest[i];
  }
  for (std::size_t i = 0; i < t.n_rows; ++i) sum[i] = 0;
  for (std::size_t k = 0; k < t.n_outputs; ++k) {
    float* const z = t.values + k * kTileRows;
    for (std::size_t i = 0; i < t.n_rows; ++i) {
      const double e = portable_exp(z[i] - largest[i]);
      sum[i] += e;
      z[i] = static_cast<float>(e);
    }
  }
}

double CrossEntropy(const TileOutputs& t) {
  double losses[kTileRows] = {};
  double largest[kTileRows];
  double sum[kTileRows];
  double of_label[kTileRows];
  for (std::size_t i = 0; i < t.n_rows; ++i) {
    of_label[i] = t.values[static_cast<std::size_t>(t.label[i]) * kTileRows + i];
  }
  ExponentialsInPlace(t, largest, sum);
  for (std::size_t i = 0; i < t.n_rows; ++i) {
    losses[i] = t.weight[i] * (portable_log(sum[i]) - (of_label[i] - largest[i]));
  }
  for (std::size_t k = 0; k < t.n_outputs; ++k) {
    float* const e = t.values + k * kTileRows;
    for (std::size_t i = 0; i < t.n_rows; ++i) {
      const double is_label = t.label[i] == static_cast<float>(k) ? 1.0 : 0.0;
      e[i] = static_cast<float>(t.weight[i] * (e[i] / sum[i] - is_label));
    }
  }
  return SumByHalves(losses);
}

double SquaredError(const TileOutputs& t) {
  double losses[kTileRows] = {};
  for (std::size_t i = 0; i < t.n_rows; ++i) {
    const double w = t.weight[i];
    const double residual = static_cast<double>(t.values[i]) - t.label[i];
    losses[i] = w * residual * residual / 2;
    t.values[i] = static_cast<float>(w * residual);
  }
  return SumByHalves(losses);
}

double DifferentiateLoss(Loss loss, const TileOutputs& t) {
  return loss == Loss::kBinaryCrossEntropy ? BinaryCrossEntropy(t)
         : loss == Loss::kCrossEntropy     ? CrossEntropy(t)
                                           : SquaredError(t);
}

void PredictFromOutputs(Loss loss, const TileOutputs& t) {
  if (loss == Loss::kBinaryCrossEntropy) {
    for (std::size_t i = 0; i < t.n_rows; ++i) t.values[i] = static_cast<float>(sigmoid(t.values[i]));
  } else if (loss == Loss::kCrossEntropy) {
    double largest[kTileRows];
    double sum[kTileRows];
    ExponentialsInPlace(t, largest, sum);
    for (std::size_t k = 0; k < t.n_outputs; ++k) {
      float* const e = t.values + k * kTileRows;
      for (std::size_t i = 0; i < t.n_rows; ++i) e[i] = static_cast<float>(e[i] / sum[i]);
    }
  }
}

}  // namespace podere::neural::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace podere::neural {

HWY_EXPORT(DifferentiateLoss);
HWY_EXPORT(PredictFromOutputs);

double differentiate_loss(Loss loss, const TileOutputs& outputs) {
  return HWY_DYNAMIC_DISPATCH(DifferentiateLoss)(loss, outputs);
}
void predict_from_outputs(Loss loss, const TileOutputs& outputs) {
  HWY_DYNAMIC_DISPATCH(PredictFromOutputs)(loss, outputs);
}

}  // namespace podere::neural
#endif
