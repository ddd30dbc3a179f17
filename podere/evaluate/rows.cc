#include "podere/evaluate/rows.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "podere/base/error.h"

namespace podere::evaluate {

void check_rows(std::size_t n_values, std::span<const float> labels, std::span<const float> weights) {
  if (n_values != labels.size()) throw_input_error("{} predictions were given for {} labels", n_values, labels.size());
  if (!weights.empty() && weights.size() != labels.size()) {
    throw_input_error("{} weights were given for {} labels", weights.size(), labels.size());
  }
  for (const float weight : weights) {
    if (!std::isfinite(weight)) throw_input_error("a weight is {}: weights must be finite numbers", weight);
  }
}

void check_classes(std::span<const float> labels, std::size_t n_classes) {
  if (n_classes == 0) throw_input_error("there are no classes: the least number of classes is 1");
  const auto n = static_cast<float>(n_classes);
  for (const float label : labels) {
    if (!(label >= 0 && label < n && label == static_cast<float>(static_cast<std::int64_t>(label)))) {
      throw_input_error("a label is {}: labels must be {}", label,
                        n_classes == 2 ? "0 or 1" : fmt::format("whole numbers from 0 to {}", n_classes - 1));
    }
  }
}

WeightUnit::WeightUnit(const comm::Communicator& comm, std::size_t n_rows, std::span<const float> weights) {
  float largest = weights.empty() && n_rows > 0 ? 1.0F : 0.0F;
  for (const float weight : weights) largest = std::max(largest, std::fabs(weight));
  largest = comm.all_reduce(largest, comm::Reduction::kMax);
  const auto n_all = comm.all_reduce(static_cast<std::uint64_t>(n_rows), comm::Reduction::kSum);
  // largest < 2^(ilogb + 1) and n_all < 2^bit_width.
  const int sum_bits = largest > 0 ? std::ilogb(largest) + 1 + static_cast<int>(std::bit_width(n_all)) : 0;
  per_weight_ = std::ldexp(1.0, 62 - sum_bits);
}

}  // namespace podere::evaluate
