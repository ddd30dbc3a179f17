#include "podere/cluster/row_sums.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace podere::cluster {
namespace {

/// A power of two, so that no product with it rounds, that makes numbers of up to `bound` at most 2^bits.
double units_for(double bound, int bits) { return bound > 0 ? std::ldexp(1.0, bits - 1 - std::ilogb(bound)) : 1; }

}  // namespace

SumUnits::SumUnits(std::span<const double> bound, double max_weight, std::uint64_t n_global_rows) {
  const int bits = std::min(40, 62 - static_cast<int>(std::bit_width(n_global_rows)));
  for (const double b : bound) per_value_.push_back(units_for(b * max_weight, bits));
  per_weight_ = units_for(max_weight, bits);
}

void SumUnits::add(const float* values, std::size_t stride, float weight, std::int64_t sign, std::int64_t* sums) const {
  const std::size_t n = per_value_.size();
  for (std::size_t j = 0; j < n; ++j) {
    sums[j] += sign * std::llrint(double{values[j * stride]} * double{weight} * per_value_[j]);
  }
  sums[n] += sign * std::llrint(double{weight} * per_weight_);
}

double SumUnits::weight(const std::int64_t* sums) const {
  return static_cast<double>(sums[per_value_.size()]) / per_weight_;
}

float SumUnits::mean(const std::int64_t* sums, std::size_t feature) const {
  return static_cast<float>(static_cast<double>(sums[feature]) / per_value_[feature] / weight(sums));
}

}  // namespace podere::cluster
