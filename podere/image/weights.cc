#include "podere/image/weights.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace podere::image {
namespace {

double box(double x) { return x > -0.5 && x <= 0.5 ? 1 : 0; }

double triangle(double x) { return std::max(1 - std::abs(x), 0.0); }

/// Keys' cubic with a = -1/2.
double bicubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

double sinc(double x) {
  if (x == 0) return 1;
  x *= std::numbers::pi;
  return std::sin(x) / x;  // of 53 bits 22 are kept
}

double lanczos(double x) { return -3 <= x && x < 3 ? sinc(x) * sinc(x / 3) : 0; }

struct FilterShape {
  double (*value)(double x);
  double support;
};

FilterShape shape_of(Filter filter) {
  switch (filter) {
    case Filter::kBox:
      return {box, 0.5};
    case Filter::kBilinear:
      return {triangle, 1};
    case Filter::kBicubic:
      return {bicubic, 2};
    default:
      return {lanczos, 3};
  }
}

std::int32_t to_fixed(double weight) {
  return static_cast<std::int32_t>((weight < 0 ? -0.5 : 0.5) + weight * (1 << kWeightBits));
}

}  // namespace

Weights find_weights(std::uint32_t n_old, std::uint64_t n_new, const Places& places, Filter filter) {
  const FilterShape shape = shape_of(filter);
  const double scale = n_old / static_cast<double>(n_new);
  const double widening = std::max(scale, 1.0);
  const double support = shape.support * widening;
  std::vector<std::vector<double>> all(places.n);
  Weights result;
  std::size_t most = 1;
  for (std::uint32_t place = 0; place < places.n; ++place) {
    const double center = (static_cast<double>(places.first + place) + 0.5) * scale;
    const auto first = static_cast<std::uint32_t>(std::max(std::floor(center - support + 0.5), 0.0));
    const auto end = std::min(static_cast<std::uint32_t>(std::floor(center + support + 0.5)), n_old);
    std::vector<double>& weights = all[place];
    double sum = 0;
    for (std::uint32_t i = first; i < end; ++i) {
      weights.push_back(shape.value((i - center + 0.5) * (1 / widening)));
      sum += weights.back();
    }
    for (double& weight : weights) weight = sum == 0 ? weight : weight / sum;
    result.first.push_back(first);
    result.count.push_back(static_cast<std::uint32_t>(weights.size()));
    most = std::max(most, weights.size());
  }
  result.n_blocks = (most + Weights::kBlock - 1) / Weights::kBlock;
  const std::size_t n = std::size_t{places.n} * result.n_weights();
  result.weights.resize(n);
  result.low.resize(n);
  result.high.resize(n);
  for (std::uint32_t place = 0; place < places.n; ++place) {
    for (std::size_t k = 0; k < all[place].size(); ++k) {
      const std::size_t at = place * result.n_weights() + k;
      const std::int32_t weight = to_fixed(all[place][k]);
      result.weights[at] = weight;
      result.low[at] = static_cast<std::int16_t>(weight & ((1 << Weights::kLowBits) - 1));
      result.high[at] = static_cast<std::int16_t>(weight >> Weights::kLowBits);
    }
  }
  return result;
}

}  // namespace podere::image
