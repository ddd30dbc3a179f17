// Covariances and correlations of the columns of tall matrices.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <string>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/linalg/tall_matrix.h"

namespace podere::linalg {

/// Of n columns. A column is constant if its deviation is 0: its covariances are 0, and its correlations NaN.
struct Covariance {
  std::vector<double> means;
  std::vector<double> deviations;  ///< standard deviations, of m - 1
  Eigen::MatrixXd correlations;    ///< [n x n], from -1 to 1

  /// The covariances, in the place of the correlations. Throws InputError for a column, by its name, whose variance is
  /// beyond the largest double.
  Eigen::MatrixXd into_covariances(const std::vector<std::string>& names) &&;
};

/// Two columns, first < second.
struct ColumnPair {
  std::size_t first;
  std::size_t second;
  double correlation;
};
/// The `most` pairs of columns with the largest correlations in magnitude, the largest first. Local.
std::vector<ColumnPair> strongest_pairs(const Eigen::MatrixXd& correlations, std::size_t most);

/// Bytes that covariance() takes on each executor, besides the matrix.
double covariance_bytes(std::size_t n, int n_threads);

/// Of a matrix of at least two rows; else throws InputError on all ranks, and as prepare(). Means are subtracted first,
/// and what they were rounded by is corrected for, so columns may vary by far less than their means. Source: T. Chan,
/// G. Golub, R. LeVeque, "Algorithms for computing the sample variance", The American Statistician 37 (1983). The same
/// bits on any number of executors and threads. Collective, as prepare() and gram(), and one all_reduce of 16 n bytes.
Covariance covariance(const TallRows& a, const std::vector<std::string>& names, const comm::Communicator& comm,
                      int n_threads);

}  // namespace podere::linalg
