// Rows of a tall matrix times the inverse of a triangular one.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <span>
#include <vector>

namespace podere::linalg {

/// An upper triangular R [n x n], as kernels have it: panels of up to kPanelColumns columns, row by row within a panel,
/// each down to the last row that is not below the diagonal.
class UpperTriangle {
 public:
  static constexpr std::size_t kPanelColumns = 6;  ///< whose sums for two vectors of rows stay in registers

  /// Of what is on and above the diagonal, on which there are no zeros.
  explicit UpperTriangle(const Eigen::MatrixXd& r);
  std::size_t n() const { return n_; }
  const double* panels() const { return panels_.data(); }

 private:
  std::size_t n_;
  std::vector<double> panels_;
};

/// Replaces each of `rows` [n_rows x n], which lie one after another, by the row q with q R = row. Each element is one
/// chain of fused multiply-adds and a division, in the order of the columns, so a row's bits depend on nothing else.
/// Source: forward substitution, whose q is exact for an R that is rounded: N. Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2002, section 8.1. Local.
void solve_rows(const UpperTriangle& r, std::span<double> rows);

}  // namespace podere::linalg
