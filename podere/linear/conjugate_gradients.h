// Least squares with a penalty, step by step: for more features than a matrix of all their products is for.
#pragma once

#include <functional>

#include "podere/linear/least_squares.h"

namespace podere::linear {

struct CgOptions {
  double l2 = 0;  ///< times the sum of the squared coefficients is added to the weighted sum of squared errors
  double tolerance = 1e-4;  ///< of the gradient's norm, beside that of coefficients that are 0
  int max_iterations = 1000;
};

/// Called after each iteration; all ranks stop where rank 0 says false.
using AfterIteration = std::function<bool(int n_iterations, double residual)>;

struct CgResult {
  LeastSquares found;  ///< without rank and cosine
  int n_iterations = 0;
  int n_passes = 0;     ///< over the rows: iterations, one before and one after
  double residual = 0;  ///< the gradient's norm, measured, beside that of coefficients that are 0
  bool has_converged = false;
  bool was_stopped = false;
};

/// Minimizes  sum_i w_i (y_i - b - sum_j c_j x_ij)^2 + l2 |c|^2  of scaled rows whose features have the shift 0 and the
/// factor 1. The same bits on any number of ranks and threads. Collective: each iteration is a pass over the rows, of
/// 32 n_features n_rows operations besides making the features, and an all_reduce of 128 n_features bytes; so are a
/// pass before the first and one after the last. Source: M. R. Hestenes, E. Stiefel, J. Res. Nat. Bur. Stand. 49(6),
/// 1952.
CgResult conjugate_gradients(const linalg::RowBlocks& blocks, const Scales& scales, const CgOptions& options,
                             const comm::Communicator& comm, int n_threads, const AfterIteration& after_iteration);

}  // namespace podere::linear
