// Exact sums of products of blocks of rows.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>

#include "podere/base/huge_array.h"
#include "podere/comm/communicator.h"
#include "podere/linalg/block_kernel.h"

namespace podere::linalg {

/// Sums of products A^T B of blocks of rows [n_a x n_b], packed as of block_kernel.h; of A^T A where `is_gram`. One for
/// each thread: 16 n_a n_b bytes, or half of that.
class ProductSums {
 public:
  ProductSums(std::size_t n_a, std::size_t n_b, bool is_gram)
      : n_a_(n_a), n_b_(n_b), is_gram_(is_gram), sums_(sums_size(n_a, n_b, is_gram)) {
    std::ranges::fill(sums_.span(), 0.0);
  }

  /// Of one block; of a gram matrix `b` is `a`. The same `splitters` each time.
  void add(const double* a, const double* b, std::size_t n_rows, const Splitters& splitters) {
    add_products({a, n_a_, b, n_b_, n_rows, is_gram_}, splitters, sums_.data());
  }
  /// What another thread summed.
  void add(const ProductSums& other) {
    for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += other.sums_[i];
  }
  /// The total over all executors. Collective.
  Eigen::MatrixXd total(const comm::Communicator& comm) const;

 private:
  std::size_t n_a_;
  std::size_t n_b_;
  bool is_gram_;
  HugeArray<double> sums_;
};

}  // namespace podere::linalg
