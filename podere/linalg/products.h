// Products of tall matrices, the same bits on any number of executors and threads.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <span>

#include "podere/comm/communicator.h"
#include "podere/linalg/tall_matrix.h"

namespace podere::linalg {

/// To be called before Eigen decomposes matrices: it multiplies in blocks that suit the cache of the processor, and
/// other blocks give other bits.
void use_the_same_blocks_everywhere();

/// The rows that one executor holds of a matrix whose values are made as they are needed.
struct RowBlocks {
  std::uint64_t n_global_rows = 0;
  std::size_t n_rows = 0;
  std::size_t n_columns = 0;
  /// Sets the values of rows [begin, end), at most kChainRows, one row after another. On any thread.
  std::function<void(std::size_t begin, std::size_t end, std::span<double> values)> fill;
};

/// A^T A [n x n] of the matrix whose values the map gives, which must be at most 1 in magnitude. m n^2 operations over
/// all executors; one all_reduce of 8 n (n + 1) bytes. Each thread needs 8 n (n + 32) bytes.
///
/// Blocks of kChainRows rows are summed row by row, in fused multiply-adds, and these sums without an order (see
/// Splitters): the error is that of a sum of kChainRows products, on any matrix of up to 2^48 rows.
Eigen::MatrixXd gram(const TallRows& a, const ColumnMap& map, const comm::Communicator& comm, int n_threads);
Eigen::MatrixXd gram(const RowBlocks& a, const comm::Communicator& comm, int n_threads);

/// What one pass over the rows of A gives, with some columns X [n x l]: all that a Rayleigh-Ritz step needs.
struct Products {
  Eigen::MatrixXd xaax;  ///< (A X)^T A X [l x l]
  Eigen::MatrixXd aax;   ///< A^T A X [n x l]
};
/// Values of A under the map are at most 1 in magnitude, and columns of X have norms of at most 1. 4 m n l operations
/// over all executors; one all_reduce of 16 (n + l) l bytes.
Products products(const TallRows& a, const ColumnMap& map, const Eigen::MatrixXd& x, const comm::Communicator& comm,
                  int n_threads);
Products products(const RowBlocks& a, const Eigen::MatrixXd& x, const comm::Communicator& comm, int n_threads);

/// The sum of each column's values, or of their squares, which must be at most 1 in magnitude. One all_reduce of 16 n
/// bytes.
enum class Power { kFirst, kSecond };
Eigen::VectorXd column_sums(const TallRows& a, const ColumnMap& map, Power power, const comm::Communicator& comm,
                            int n_threads);

/// A X, the rows that this executor holds of A. Each element is one chain of fused multiply-adds. Local.
TallMatrix multiply(const TallRows& a, const ColumnMap& map, const Eigen::MatrixXd& x, int n_threads);

}  // namespace podere::linalg
