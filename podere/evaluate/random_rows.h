// Rows for the tests of this room: each depends on its number alone, so that every rank can make any part of them.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "podere/base/hash.h"

namespace podere::evaluate {

struct Rows {
  std::vector<float> scores;  ///< probabilities with many ties, some exactly 0 and 1
  std::vector<float> labels;
  std::vector<float> weights;  ///< one in eight is negative

  void add(std::uint64_t seed, std::uint64_t row, int n_classes) {
    RandomSequence random(seed, 0, row);
    const auto label = static_cast<float>(static_cast<int>(random.uniform() * n_classes));
    const double u = (random.uniform() + random.uniform() + 0.3 * label) / (1.7 + 0.3 * n_classes);
    const bool is_rounded = random.uniform() < 0.5;
    scores.push_back(static_cast<float>(is_rounded ? std::round(u * 10) / 10 : u));
    labels.push_back(label);
    weights.push_back(static_cast<float>(std::exp(4 * random.uniform() - 2) * (random.uniform() < 0.125 ? -1 : 1)));
  }
};

/// Rows [begin, end) of `seed`.
inline Rows random_rows(std::uint64_t seed, std::uint64_t begin, std::uint64_t end, int n_classes = 2) {
  Rows rows;
  for (std::uint64_t i = begin; i < end; ++i) rows.add(seed, i, n_classes);
  return rows;
}

}  // namespace podere::evaluate
