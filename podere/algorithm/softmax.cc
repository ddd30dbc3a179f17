#include "podere/algorithm/softmax.h"

#include <algorithm>

#include "podere/base/portable_math.h"

namespace podere::algorithm {

std::vector<float> softmax(std::vector<float> scores, std::size_t n_outputs) {
  const std::size_t n_rows = scores.size() / n_outputs;
  std::vector<double> odds(n_outputs);
  for (std::size_t i = 0; i < n_rows; ++i) {
    double largest = scores[i];
    for (std::size_t k = 1; k < n_outputs; ++k) largest = std::max<double>(largest, scores[k * n_rows + i]);
    double sum = 0;
    for (std::size_t k = 0; k < n_outputs; ++k) sum += odds[k] = portable_exp(scores[k * n_rows + i] - largest);
    for (std::size_t k = 0; k < n_outputs; ++k) scores[k * n_rows + i] = static_cast<float>(odds[k] / sum);
  }
  return scores;
}

}  // namespace podere::algorithm
