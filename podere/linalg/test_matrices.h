// Matrices for tests, whose values follow from their global rows.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <cstdint>

#include "podere/base/hash.h"
#include "podere/linalg/column_facts.h"
#include "podere/linalg/tall_matrix.h"

namespace podere::linalg {

/// Products of two factors with falling weights, and noise: leading values apart, the others close to one another.
inline double test_value(std::uint64_t row, std::size_t column) {
  double value = 0.01 * (uniform01(hash64(9, column, row)) - 0.5);
  for (std::uint64_t k = 0; k < 12; ++k) {
    const double left = uniform01(hash64(1, k, row)) - 0.5;
    value += left * (uniform01(hash64(2, k, column)) - 0.5) / static_cast<double>(k + 1);
  }
  return value;
}

inline TallMatrix test_matrix(std::uint64_t n_rows, std::size_t n_columns, int rank = 0, int n_ranks = 1) {
  TallMatrix a(n_rows, n_columns, table::rows_of(n_rows, rank, n_ranks));
  for (std::size_t i = 0; i < a.n_rows(); ++i) {
    for (std::size_t j = 0; j < n_columns; ++j) a.row(i)[j] = test_value(a.rows().begin + i, j);
  }
  return a;
}

inline const comm::Communicator& alone() {
  static const auto group = comm::Communicator::self();
  return group;
}

/// The values as they are, for svd().
inline BoundedMap as_they_are(const TallRows& a) {
  return bounded(ColumnMap::identity(a.n_columns()), ranges(a, {}, alone(), 1));
}

inline Eigen::MatrixXd dense(const TallRows& a) {
  Eigen::MatrixXd result(static_cast<Eigen::Index>(a.n_rows()), static_cast<Eigen::Index>(a.n_columns()));
  for (std::size_t i = 0; i < a.n_rows(); ++i) {
    for (std::size_t j = 0; j < a.n_columns(); ++j) {
      result(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = a.row(i)[j];
    }
  }
  return result;
}

inline TallMatrix tall(const Eigen::MatrixXd& values) {
  const auto n_rows = static_cast<std::uint64_t>(values.rows());
  TallMatrix a(n_rows, static_cast<std::size_t>(values.cols()), table::rows_of(n_rows, 0, 1));
  for (std::size_t i = 0; i < a.n_rows(); ++i) {
    for (std::size_t j = 0; j < a.n_columns(); ++j) {
      a.row(i)[j] = values(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
    }
  }
  return a;
}

/// U diag(s) V^T with orthonormal columns that are drawn.
inline Eigen::MatrixXd with_singular_values(Eigen::Index n_rows, const Eigen::VectorXd& s) {
  const auto orthonormal = [](Eigen::Index rows, Eigen::Index columns, std::uint64_t seed) {
    Eigen::MatrixXd x(rows, columns);
    for (Eigen::Index i = 0; i < rows; ++i) {
      for (Eigen::Index j = 0; j < columns; ++j) {
        x(i, j) = uniform01(hash64(seed, static_cast<std::uint64_t>(j), static_cast<std::uint64_t>(i))) - 0.5;
      }
    }
    return Eigen::MatrixXd(Eigen::HouseholderQR<Eigen::MatrixXd>(x).householderQ() *
                           Eigen::MatrixXd::Identity(rows, columns));
  };
  return orthonormal(n_rows, s.size(), 3) * s.asDiagonal() * orthonormal(s.size(), s.size(), 4).transpose();
}

}  // namespace podere::linalg
