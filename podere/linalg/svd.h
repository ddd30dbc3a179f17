// Leading singular values and vectors of tall matrices.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <functional>

#include "podere/base/enum_names.h"
#include "podere/comm/communicator.h"
#include "podere/linalg/tall_matrix.h"

namespace podere::linalg {

/// kGram: eigenvectors of A^T A, for as many columns as their n^3 operations allow. kKrylov: block Krylov subspaces
/// with Rayleigh-Ritz steps and restarts, for more columns. Source: R. B. Lehoucq et al., ARPACK users' guide, 1998,
/// chapter 4, by blocks, on which flat spectra depend; C. Musco, C. Musco, NeurIPS 2015.
enum class SvdMethod { kAutomatic, kGram, kKrylov };
constexpr EnumNames<3> names_of(SvdMethod) { return {"method", {"auto", "gram", "krylov"}}; }
using podere::to_string;

struct SvdOptions {
  std::size_t rank = 0;  ///< 1 to the smaller of rows and columns
  SvdMethod method = SvdMethod::kAutomatic;
  double tolerance = 1e-10;  ///< of |A^T u - s v| / s; never below what rounding leaves of it
  int max_passes = 100;      ///< over the rows, at least 3
  std::uint64_t seed = 0;    ///< of the random columns with which kKrylov begins
};

struct Svd {
  Eigen::VectorXd s;       ///< [rank], falling
  Eigen::VectorXd shares;  ///< [rank] of each of s its square, in the sum of squares of all values; 0 where that is 0
  Eigen::MatrixXd v;       ///< [n x rank]; of each column the entry of the largest magnitude is positive
  /// [rank] |A^T u - s v| / s, where u = A v / s: A has a singular value as close to s, in s. 1 where s is not
  /// resolved.
  Eigen::VectorXd residuals;
  SvdMethod method = SvdMethod::kGram;
  int n_passes = 0;  ///< over the rows
  bool has_converged = false;
  /// How many of s are more than what rounding makes of zero.
  Eigen::Index n_resolved() const;
};

/// The method that kAutomatic is for n columns.
SvdMethod chosen_method(const SvdOptions& options, std::size_t n);

/// Bytes that svd() takes on each executor, besides the matrix: where n is large, about these.
double svd_bytes(const SvdOptions& options, std::size_t n, int n_threads);

/// Called after each pass but that for A^T A, with the largest residual.
using AfterPass = std::function<void(int n_passes, double residual)>;

/// Of the matrix whose values the map gives before it is divided. The same bits on any number of executors and threads.
/// Collective; each pass sends as gram() or products() does.
Svd svd(const TallRows& a, const BoundedMap& map, const SvdOptions& options, const comm::Communicator& comm,
        int n_threads, const AfterPass& after_pass = {});

/// The rows here of U = A V / s [m x rank]; where s is not resolved, columns of zeros. Local.
TallMatrix left_vectors(const TallRows& a, const BoundedMap& map, const Svd& svd, int n_threads);

/// The largest entry of |Q^T Q - 1| of columns that are to be orthonormal, or zero. Collective.
double orthogonality(const TallRows& q, const comm::Communicator& comm, int n_threads);

}  // namespace podere::linalg
