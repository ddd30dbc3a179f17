#include "podere/linear/random_features.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "podere/base/hash.h"
#include "podere/base/portable_math.h"
#include "podere/linalg/block_kernel.h"
#include "podere/linalg/tall_matrix.h"
#include "podere/linear/cosine_kernel.h"

namespace podere::linear {
namespace {

constexpr std::uint64_t kStream = 0x7266;  // of random numbers
constexpr std::size_t kRowsAtOnce = 32;    // whose features stay in the cache

void pack_as_is(std::span<const double> rows, std::size_t n_columns, double* packed) {
  const auto as_they_are = linalg::ColumnMap::identity(n_columns);
  linalg::pack(rows, as_they_are.shift, as_they_are.factor, packed);
}

/// Two normal numbers. Source: G. E. P. Box, M. E. Muller, Ann. Math. Stat. 29(2), 1958.
struct TwoNormal {
  double first;
  double second;
};
TwoNormal draw_normal(RandomSequence& random) {
  const double radius = std::sqrt(-2 * portable_log(1 - random.uniform()));
  const double turns = random.uniform();
  return {radius * cosine_of_turns(turns), radius * cosine_of_turns(turns - 0.25)};
}

/// [n_features + 1 x n_packed], by rows: w, then b, in turns.
std::vector<double> draw_frequencies(const FeatureMap& map, std::size_t n_packed) {
  const std::size_t n = map.n_features();
  const double deviation = std::sqrt(2.0) * std::sqrt(map.gamma) / (2 * std::numbers::pi);  // in turns
  std::vector<double> frequencies((n + 1) * n_packed);
  for (std::size_t j = 0; j < map.n_outputs; ++j) {
    RandomSequence random(map.seed, kStream, j);
    frequencies[n * n_packed + j] = random.uniform();
    for (std::size_t k = 0; k < n; k += 2) {
      const TwoNormal drawn = draw_normal(random);
      frequencies[k * n_packed + j] = drawn.first * deviation * map.factor[k];
      if (k + 1 < n) frequencies[(k + 1) * n_packed + j] = drawn.second * deviation * map.factor[k + 1];
    }
  }
  return frequencies;
}

}  // namespace

RandomFeatures::RandomFeatures(const FeatureMap& map)
    : n_outputs_(map.n_outputs),
      n_packed_((map.n_outputs + linalg::kResultColumns - 1) / linalg::kResultColumns * linalg::kResultColumns),
      shift_(map.shift),
      packed_(linalg::packed_size(map.n_features() + 1, n_packed_)) {
  pack_as_is(draw_frequencies(map, n_packed_), n_packed_, packed_.data());
}

void RandomFeatures::compute(std::span<const std::span<const float>> columns, std::size_t begin, std::size_t end,
                             double* values, std::size_t stride) const {
  const std::size_t n = shift_.size();
  std::vector<double> rows(kRowsAtOnce * (n + 1), 1.0);  // the last column is that of b
  HugeArray<double> packed(linalg::packed_size(kRowsAtOnce, n + 1));
  std::vector<double> turns(kRowsAtOnce * n_packed_);
  for (std::size_t first = begin; first < end; first += kRowsAtOnce) {
    const std::size_t n_rows = std::min(kRowsAtOnce, end - first);
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < n_rows; ++i) rows[i * (n + 1) + j] = double{columns[j][first + i]} - shift_[j];
    }
    pack_as_is(std::span(rows).first(n_rows * (n + 1)), n + 1, packed.data());
    linalg::multiply_packed(packed.data(), n_rows, n + 1, packed_.data(), n_packed_, turns.data());
    to_cosines(std::span(turns).first(n_rows * n_packed_));
    for (std::size_t i = 0; i < n_rows; ++i) {
      std::copy_n(turns.data() + i * n_packed_, n_outputs_, values + (first - begin + i) * stride);
    }
  }
}

}  // namespace podere::linear
