#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "podere/graph/row_kernel.cc"
#include "podere/graph/row_kernel.h"

#include <algorithm>
#include <cmath>

#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// After foreach_target.h, which includes this file again.
#include "podere/graph/vector_functions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace podere::graph::HWY_NAMESPACE {

/// Calls function(i) for each vector, and stores what it returns.
template <typename F>
HWY_INLINE void Fill(float* to, std::size_t n, const F& function) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(function(i), d, to + i);
  if (i < n) StorePart(function(i), to + i, n - i);
}

void Activate(Activation activation, const float* from, float* to, std::size_t n) { ApplyRun(activation, from, to, n); }

/// a^b in double precision; of negative a for whole b.
float power(float a, float b) {
  const double x = a;
  const double y = b;
  if (y == 0) return 1;
  if (x == 0) return y > 0 ? 0 : std::numeric_limits<float>::infinity();
  const double magnitude = portable_exp(y * portable_log(x < 0 ? -x : x));
  if (x > 0) return static_cast<float>(magnitude);
  if (y != std::floor(y)) return std::numeric_limits<float>::quiet_NaN();
  return static_cast<float>(y / 2 == std::floor(y / 2) ? magnitude : -magnitude);
}

template <typename Op>
HWY_INLINE void CombineBy(const Op& op, const float* a, std::size_t a_step, const float* b, std::size_t b_step,
                          Activation activation, float* to, std::size_t n) {
  const Floats d;
  const auto load = [d](const float* values, std::size_t step) {
    return [=, one = hn::Set(d, *values)](std::size_t i) { return step == 0 ? one : hn::LoadU(d, values + i); };
  };
  const auto x = load(a, a_step);
  const auto y = load(b, b_step);
  if (activation.function == Function::kClip) {
    const Vector low = Constant(activation.a);
    const Vector high = Constant(activation.b);
    Fill(to, n, [&](std::size_t i) { return Clip(op(x(i), y(i)), low, high); });
  } else {
    Fill(to, n, [&](std::size_t i) { return Apply(activation, op(x(i), y(i))); });
  }
}

void Combine(Pair pair, const float* a, std::size_t a_step, const float* b, std::size_t b_step, Activation activation,
             float* to, std::size_t n) {
  const auto by = [&](const auto& op) { CombineBy(op, a, a_step, b, b_step, activation, to, n); };
  switch (pair) {
    case Pair::kAdd:
      return by([](Vector x, Vector y) { return hn::Add(x, y); });
    case Pair::kSubtract:
      return by([](Vector x, Vector y) { return hn::Sub(x, y); });
    case Pair::kMultiply:
      return by([](Vector x, Vector y) { return hn::Mul(x, y); });
    case Pair::kDivide:
      return by([](Vector x, Vector y) { return hn::Div(x, y); });
    case Pair::kMaximum:
      return by([](Vector x, Vector y) { return hn::Max(x, y); });
    case Pair::kMinimum:
      return by([](Vector x, Vector y) { return hn::Min(x, y); });
    case Pair::kPRelu:
      return by([](Vector x, Vector y) { return hn::IfThenElse(hn::Lt(x, hn::Zero(Floats())), hn::Mul(x, y), x); });
    case Pair::kPower:
      if (b_step == 0 && *b == 2.0F) return by([](Vector x, Vector) { return hn::Mul(x, x); });
      if (b_step == 0 && *b == 0.5F) return by([](Vector x, Vector) { return hn::Sqrt(x); });
      for (std::size_t i = 0; i < n; ++i) to[i] = power(a[i * a_step], b[i * b_step]);
      ApplyRun(activation, to, to, n);
      return;
  }
}

void ScaleAndShift(const float* from, const float* scale, const float* shift, Activation activation, float* to,
                   std::size_t n) {
  const Floats d;
  const auto y = [&](std::size_t i) {
    return vm::FusedMultiplyAdd(hn::LoadU(d, from + i), hn::LoadU(d, scale + i), hn::LoadU(d, shift + i));
  };
  if (activation.function == Function::kClip) {
    const Vector low = Constant(activation.a);
    const Vector high = Constant(activation.b);
    Fill(to, n, [&](std::size_t i) { return Clip(y(i), low, high); });
  } else {
    Fill(to, n, [&](std::size_t i) { return Apply(activation, y(i)); });
  }
}

HWY_INLINE Vector Start(Reduction reduction) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (reduction == Reduction::kMaximum) return Constant(-kInfinity);
  return reduction == Reduction::kMinimum ? Constant(kInfinity) : hn::Zero(Floats());
}

HWY_INLINE Vector Take(Reduction reduction, Vector so_far, Vector x) {
  switch (reduction) {
    case Reduction::kMaximum:
      return hn::Max(so_far, x);
    case Reduction::kMinimum:
      return hn::Min(so_far, x);
    case Reduction::kSumOfSquares:
    case Reduction::kNorm:
      return vm::FusedMultiplyAdd(x, x, so_far);
    default:
      return hn::Add(so_far, x);
  }
}

/// Partial results of two parts.
HWY_INLINE Vector Join(Reduction reduction, Vector x, Vector y) {
  const bool is_extreme = reduction == Reduction::kMaximum || reduction == Reduction::kMinimum;
  return is_extreme ? Take(reduction, x, y) : hn::Add(x, y);
}

HWY_INLINE Vector End(Reduction reduction, Vector result, std::size_t n) {
  if (reduction == Reduction::kMean) return hn::Div(result, Constant(static_cast<float>(n)));
  return reduction == Reduction::kNorm ? hn::Sqrt(result) : result;
}

void ReduceColumns(Reduction reduction, const float* from, std::size_t n, std::size_t stride, std::size_t width,
                   float* to) {
  constexpr std::size_t kTogether = 32;
  Fill(to, width, [&](std::size_t j) {
    Vector result = Start(reduction);
    for (std::size_t first = 0; first < n; first += kTogether) {
      Vector part = Start(reduction);
      for (std::size_t i = first; i < std::min(n, first + kTogether); ++i) {
        part = Take(reduction, part, hn::LoadU(Floats(), from + i * stride + j));
      }
      result = Join(reduction, result, part);
    }
    return End(reduction, result, n);
  });
}

/// Calls take(lane, vector) for values that lie at lane, lane + 1, ... modulo 16, with `fill` beyond the n-th.
template <typename F>
HWY_INLINE void ForEachLane(const float* from, std::size_t n, float fill, const F& take) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < n; i += 16) {
    HWY_ALIGN float part[16];
    const float* values = from + i;
    if (i + 16 > n) {
      for (std::size_t k = 0; k < 16; ++k) part[k] = i + k < n ? from[i + k] : fill;
      values = part;
    }
    for (std::size_t lane = 0; lane < 16; lane += lanes) take(lane, hn::LoadU(d, values + lane));
  }
}

/// Of 16 partial results, by halves.
template <typename F>
HWY_INLINE float ByHalves(float* parts, const F& join) {
  for (std::size_t half = 8; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) parts[i] = join(parts[i], parts[i + half]);
  }
  return parts[0];
}

HWY_INLINE float SumRun(const float* from, std::size_t n) {
  const Floats d;
  HWY_ALIGN float sums[16] = {};
  ForEachLane(from, n, 0,
              [&](std::size_t lane, Vector x) { hn::Store(hn::Add(hn::Load(d, sums + lane), x), d, sums + lane); });
  return ByHalves(sums, [](float x, float y) { return x + y; });
}

float ReduceRun(Reduction reduction, const float* from, std::size_t n) {
  const Floats d;
  HWY_ALIGN float parts[16];
  for (std::size_t lane = 0; lane < 16; lane += hn::Lanes(d)) hn::Store(Start(reduction), d, parts + lane);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const bool is_maximum = reduction == Reduction::kMaximum;
  const bool is_minimum = reduction == Reduction::kMinimum;
  const float fill = is_maximum ? -kInfinity : (is_minimum ? kInfinity : 0.0F);
  ForEachLane(from, n, fill, [&](std::size_t lane, Vector x) {
    hn::Store(Take(reduction, hn::Load(d, parts + lane), x), d, parts + lane);
  });
  const float result = ByHalves(parts, [&](float x, float y) {
    if (is_maximum) return std::max(x, y);
    return is_minimum ? std::min(x, y) : x + y;
  });
  return hn::GetLane(End(reduction, Constant(result), n));
}

void Softmax(const float* from, float* to, std::size_t n, bool is_log) {
  const Floats d;
  const Vector largest = Constant(ReduceRun(Reduction::kMaximum, from, n));
  HWY_ALIGN float sums[16] = {};
  ForEachLane(from, n, -std::numeric_limits<float>::infinity(), [&](std::size_t lane, Vector x) {
    const Vector e = vm::BoundedExp(d, hn::Sub(x, largest));
    hn::Store(hn::Add(hn::Load(d, sums + lane), e), d, sums + lane);
  });
  const float sum = ByHalves(sums, [](float x, float y) { return x + y; });
  if (is_log) {
    const Vector log_sum = Constant(static_cast<float>(portable_log(sum)));
    Fill(to, n, [&](std::size_t i) { return hn::Sub(hn::Sub(hn::LoadU(d, from + i), largest), log_sum); });
  } else {
    const Vector divisor = Constant(sum);
    Fill(to, n,
         [&](std::size_t i) { return hn::Div(vm::BoundedExp(d, hn::Sub(hn::LoadU(d, from + i), largest)), divisor); });
  }
}

void Normalize(const float* from, float* to, std::size_t n, float epsilon, const float* scale, const float* shift,
               std::size_t step) {
  const Floats d;
  const float mean = SumRun(from, n) / static_cast<float>(n);
  const Vector means = Constant(mean);
  HWY_ALIGN float squares[16] = {};
  ForEachLane(from, n, mean, [&](std::size_t lane, Vector x) {
    const Vector difference = hn::Sub(x, means);
    hn::Store(vm::FusedMultiplyAdd(difference, difference, hn::Load(d, squares + lane)), d, squares + lane);
  });
  const float variance = ByHalves(squares, [](float x, float y) { return x + y; }) / static_cast<float>(n);
  const Vector factor = Constant(1.0F / std::sqrt(variance + epsilon));
  Fill(to, n, [&](std::size_t i) {
    const Vector y = hn::Mul(hn::Sub(hn::LoadU(d, from + i), means), factor);
    const Vector s = step == 0 ? Constant(*scale) : hn::LoadU(d, scale + i);
    if (shift == nullptr) return hn::Mul(y, s);
    return vm::FusedMultiplyAdd(y, s, step == 0 ? Constant(*shift) : hn::LoadU(d, shift + i));
  });
}

}  // namespace podere::graph::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace podere::graph {

HWY_EXPORT(Activate);
HWY_EXPORT(Combine);
HWY_EXPORT(ScaleAndShift);
HWY_EXPORT(ReduceColumns);
HWY_EXPORT(ReduceRun);
HWY_EXPORT(Softmax);
HWY_EXPORT(Normalize);

void activate(Activation activation, const float* from, float* to, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(Activate)(activation, from, to, n);
}
void combine(Pair pair, const float* a, std::size_t a_step, const float* b, std::size_t b_step, Activation activation,
             float* to, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(Combine)(pair, a, a_step, b, b_step, activation, to, n);
}
void scale_and_shift(const float* from, const float* scale, const float* shift, Activation activation, float* to,
                     std::size_t n) {
  HWY_DYNAMIC_DISPATCH(ScaleAndShift)(from, scale, shift, activation, to, n);
}
void reduce_columns(Reduction reduction, const float* from, std::size_t n, std::size_t stride, std::size_t width,
                    float* to) {
  HWY_DYNAMIC_DISPATCH(ReduceColumns)(reduction, from, n, stride, width, to);
}
float reduce_run(Reduction reduction, const float* from, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(ReduceRun)(reduction, from, n);
}
void softmax(const float* from, float* to, std::size_t n, bool is_log) {
  HWY_DYNAMIC_DISPATCH(Softmax)(from, to, n, is_log);
}
void normalize(const float* from, float* to, std::size_t n, float epsilon, const float* scale, const float* shift,
               std::size_t step) {
  HWY_DYNAMIC_DISPATCH(Normalize)(from, to, n, epsilon, scale, shift, step);
}

void normalize_locally(const LocalNorm& norm, const float* from, float* to, std::size_t n) {
  const std::size_t before = (norm.size - 1) / 2;
  const std::size_t after = norm.size - 1 - before;
  for (std::size_t i = 0; i < n; ++i) {
    double squares = 0;
    for (std::size_t j = i - std::min(i, before); j < std::min(n, i + after + 1); ++j) {
      squares += static_cast<double>(from[j]) * from[j];
    }
    const double base = norm.bias + static_cast<double>(norm.alpha) / static_cast<double>(norm.size) * squares;
    to[i] = static_cast<float>(from[i] / portable_exp(norm.beta * portable_log(base)));
  }
}

}  // namespace podere::graph
#endif
