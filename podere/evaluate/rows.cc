#include "podere/evaluate/rows.h"

#include <cmath>
#include <cstdint>

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

}  // namespace podere::evaluate
