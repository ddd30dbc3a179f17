// Rows as least squares have them: with values of at most 1, and with the roots of their weights.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/linalg/products.h"
#include "podere/table/table.h"

namespace podere::linear {

/// Rows that one executor holds of all. What the spans are of outlives it.
struct Rows {
  std::vector<std::span<const float>> columns;  ///< [n_features][n_rows], finite
  std::span<const float> label;                 ///< [n_rows], finite
  std::span<const float> weight;                ///< [n_rows] from 0, not all of them 0 over all ranks; empty: each is 1
  std::uint64_t n_global_rows = 0;

  std::size_t n_rows() const { return label.size(); }
  std::size_t n_features() const { return columns.size(); }
  float weight_of(std::size_t row) const { return weight.empty() ? 1.0F : weight[row]; }
};

/// Those of a table. `need` is "linear models need", for messages. Throws InputError, on all ranks, for values and
/// weights with which there are no least squares. Collective.
Rows checked_rows(const table::Table& table, const std::string& need, const comm::Communicator& comm, int n_threads);

/// What stands for features and label: (value - shift) * factor is at most 1 in magnitude.
struct Scales {
  Eigen::VectorXd shift;   ///< [n_features + 1], the label last: their weighted means
  Eigen::VectorXd factor;  ///< the same: powers of two
  double largest_weight = 1;
};

/// Of the rows that count: those of weight 0 may hold anything. Collective.
Scales measure_scales(const Rows& rows, const comm::Communicator& comm, int n_threads);

/// Sets n features of rows [begin, end), at most linalg::kChainRows: row i begins at values + (i - begin) * stride.
/// They are at most 1 in magnitude where the weight is not 0. On any thread.
using FillFeatures = std::function<void(std::size_t begin, std::size_t end, double* values, std::size_t stride)>;

/// The matrix Z of rows  sqrt(w) [n features, 1, y], all of them scaled; w is at most 1. Refers to what it is given.
linalg::RowBlocks scaled_blocks(const Rows& rows, const Scales& scales, std::size_t n, FillFeatures fill);
/// With the features of the rows.
linalg::RowBlocks scaled_blocks(const Rows& rows, const Scales& scales);

/// What coefficients and the intercept [n + 1], scaled, leave of the label.
struct Remainder {
  Eigen::VectorXd gradient;  ///< [n + 1] half of that of the squared error
  double squared_error = 0;  ///< weighted sum, scaled
};
/// Collective: a pass over the rows.
Remainder remainder_of(const linalg::RowBlocks& blocks, const Eigen::VectorXd& solution, const comm::Communicator& comm,
                       int n_threads);

}  // namespace podere::linear
