// Linear least squares, weighted, by normal equations that are refined.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/linear/scaled_rows.h"

namespace podere::linear {

/// What keeps coefficients small: l2 times the sum of their squares is added to the weighted sum of squared errors.
struct Penalty {
  double l2 = 0;
  bool standardizes = false;  ///< of coefficients of features divided by their standard deviations
};

/// What l2 is at most, in scaled rows: its square root, and products with it, are finite.
inline constexpr double kLargestPenalty = 0x1p900;

struct LeastSquares {
  std::vector<double> coefficients;  ///< [n_features]
  double intercept = 0;
  std::size_t rank = 0;       ///< of the normal equations; where it is less than n_features, coefficients are the
                              ///< smallest, those of standardized features, of all that are as good
  double squared_error = 0;   ///< weighted mean over the rows
  double variance = 0;        ///< of the label
  double largest_cosine = 0;  ///< the largest cosine between a centered feature and what is left of the label, with the
                              ///< penalty; 0 if it is the minimum exactly
};

/// Over the rows, after the normal equations.
inline constexpr int kPasses = 2;

/// Bytes that solve_least_squares() takes on each executor, where there are many features.
double least_squares_bytes(std::size_t n_features, int n_threads);

/// Minimizes  sum_i w_i (y_i - b - sum_j c_j x_ij)^2 + penalty  over c and b. The same bits on any number of ranks and
/// threads. Collective: a pass over the rows for means and ranges; one for the normal equations, n_features^2
/// n_rows operations, and an all_reduce of 8 n_features^2 bytes; their Cholesky factors, n_features^3 / 3
/// operations on one thread, or where they lack rank eigenvectors, some 9 n_features^3; and kPasses of 4 n_features
/// n_rows each. Memory: 16 n_features^2 bytes on each thread, and 40 for all. Normal equations alone lose twice the
/// digits that the features lack of independence. Each pass but the last computes gradients from what is left of the
/// label, and wins digits back; the last measures what was found. Source: Å. Björck, "Numerical methods for least
/// squares problems", 1996, section 2.9 (corrected seminormal equations).
LeastSquares solve_least_squares(const Rows& rows, const Penalty& penalty, const comm::Communicator& comm,
                                 int n_threads);
/// The same, after the pass for means and ranges, of scaled rows with any features.
LeastSquares solve_least_squares(const linalg::RowBlocks& blocks, const Scales& scales, const Penalty& penalty,
                                 const comm::Communicator& comm, int n_threads);

/// Sets coefficients and intercept to those that a solution [n_features + 1] of scaled rows, the intercept last, stands
/// for.
void set_solution(const Eigen::VectorXd& solution, const Scales& scales, LeastSquares& found);

}  // namespace podere::linear
