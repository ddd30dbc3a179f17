#include "podere/comm/weight_unit.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace podere::comm {

WeightUnit::WeightUnit(const Communicator& comm, std::size_t n_rows, std::span<const float> weights) {
  float largest = weights.empty() && n_rows > 0 ? 1.0F : 0.0F;
  for (const float weight : weights) largest = std::max(largest, std::fabs(weight));
  largest = comm.all_reduce(largest, Reduction::kMax);
  const auto n_all = comm.all_reduce(static_cast<std::uint64_t>(n_rows), Reduction::kSum);
  // largest < 2^(ilogb + 1) and n_all < 2^bit_width.
  const int sum_bits = largest > 0 ? std::ilogb(largest) + 1 + static_cast<int>(std::bit_width(n_all)) : 0;
  per_weight_ = std::ldexp(1.0, 62 - sum_bits);
}

}  // namespace podere::comm
