// Random Fourier features: a few numbers of each row whose products are nearly those of a Gaussian kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "podere/base/huge_array.h"

namespace podere::linear {

/// What random features are made of: all of this is in a model's file.
struct FeatureMap {
  std::uint64_t seed = 0;
  std::size_t n_outputs = 0;   ///< random features
  double gamma = 0;            ///< of the kernel exp(-gamma |x - x'|^2), of features that are shifted and scaled
  std::vector<double> shift;   ///< [n_features] x = (value - shift) * factor
  std::vector<double> factor;  ///< [n_features]

  std::size_t n_features() const { return shift.size(); }
};

/// Computes  u_j(x) = cos(w_j . x + b_j),  w_j normal with the variance 2 gamma and b_j uniform in a whole turn: the
/// mean over j of 2 u_j(x) u_j(x') is the kernel, up to some 1 / sqrt(n_outputs). Feature j is drawn by (seed, j)
/// alone. The same bits wherever linalg has them. Source: A. Rahimi, B. Recht, "Random features for large-scale kernel
/// machines", NeurIPS 2007.
class RandomFeatures {
 public:
  /// Memory: 8 (n_features + 1) n_outputs bytes, twice while it is made.
  explicit RandomFeatures(const FeatureMap& map);

  std::size_t size() const { return n_outputs_; }
  /// Sets those of rows [begin, end) of `columns` [n_features]: row i begins at values + (i - begin) * stride. Each
  /// takes n_features fused multiply-adds, and a cosine. On any thread.
  void compute(std::span<const std::span<const float>> columns, std::size_t begin, std::size_t end, double* values,
               std::size_t stride) const;

 private:
  std::size_t n_outputs_;
  std::size_t n_packed_;  // n_outputs_ up to a whole number of linalg::kResultColumns
  std::vector<double> shift_;
  HugeArray<double> packed_;  // [n_features + 1 x n_packed_] w, and b in the last row, in turns
};

}  // namespace podere::linear
