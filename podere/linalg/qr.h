// A = Q R of tall matrices.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <string>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/linalg/tall_matrix.h"

namespace podere::linalg {

struct Qr {
  Eigen::MatrixXd r;  ///< [n x n] upper triangular, with a positive diagonal
  int n_passes = 0;   ///< over the rows, each a Cholesky decomposition: two where columns are far from dependent
  int n_shifted = 0;  ///< of these with a shift, for columns that are nearly dependent
  /// [n] of each column the largest entry of |A - Q R|, in the largest of |A|. Empty if Q is not wanted.
  std::vector<double> residuals;
};

enum class WantedQ { kNone, kInPlace };

/// Bytes that qr() takes on each executor, besides the matrix.
double qr_bytes(std::size_t n, int n_threads);

/// Cholesky QR, as often as it takes: of A^T A = R^T R, then of A R^-1 in the place of A, until that is orthonormal. A
/// shift of A^T A makes up for what the squares of small singular values lose. Columns are divided by their norms
/// first, so their units do not matter. Source: Y. Yamamoto et al., ETNA 44 (2015); T. Fukaya et al., SIAM J. Sci.
/// Comput. 42 (2020).
///
/// kInPlace: A becomes Q, with columns that are orthonormal to rounding. kNone: A is as it was. The same bits on any
/// number of executors and threads.
///
/// Throws, the same on all ranks, what prepare() throws, and InputError for fewer rows than columns, and for columns
/// that depend on those before them: that are within rounding of their span. Collective, as prepare(), and gram() for
/// each pass; m n^2 operations for each pass before, too.
Qr qr(TallMatrix& a, const std::vector<std::string>& names, WantedQ wanted, const comm::Communicator& comm,
      int n_threads);

}  // namespace podere::linalg
