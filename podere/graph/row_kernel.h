// Operators on runs of values that lie next to each other.
#pragma once

#include <cstddef>

#include "podere/graph/activation.h"

namespace podere::graph {

// All of these read up to a vector beyond the n values, and write n. `to` may be `from`.

/// to[i] = activation(from[i])
void activate(Activation activation, const float* from, float* to, std::size_t n);

enum class Pair { kAdd, kSubtract, kMultiply, kDivide, kMaximum, kMinimum, kPower, kPRelu };

/// to[i] = activation(a[i] op b[i]); a step is 1, or 0: one value for all. PRelu: a, or a b where a is below 0.
void combine(Pair pair, const float* a, std::size_t a_step, const float* b, std::size_t b_step, Activation activation,
             float* to, std::size_t n);

/// to[i] = activation(from[i] scale[i] + shift[i]), rounded once before the activation.
void scale_and_shift(const float* from, const float* scale, const float* shift, Activation activation, float* to,
                     std::size_t n);

enum class Reduction { kSum, kMean, kMaximum, kMinimum, kSumOfSquares, kNorm };

/// to[j] = reduction over i of from[i * stride + j], j < width. Sums of 32 are added up, then sums of those.
void reduce_columns(Reduction reduction, const float* from, std::size_t n, std::size_t stride, std::size_t width,
                    float* to);

/// The reduction of n values: of every 16th, then of these by halves.
float reduce_run(Reduction reduction, const float* from, std::size_t n);

/// e^x / sum of e^x; or the logarithm of this.
void softmax(const float* from, float* to, std::size_t n, bool is_log);

/// (x - mean) / sqrt(variance + epsilon), times scale[i * step] plus shift[i * step]; shift may be none.
void normalize(const float* from, float* to, std::size_t n, float epsilon, const float* scale, const float* shift,
               std::size_t step);

/// to[i] = from[i] / (bias + alpha / size * sum of squares of the `size` values around i)^beta
struct LocalNorm {
  std::size_t size;
  float alpha, beta, bias;
};
void normalize_locally(const LocalNorm& norm, const float* from, float* to, std::size_t n);

}  // namespace podere::graph
