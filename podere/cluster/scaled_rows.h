// Rows as distances are measured between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "podere/cluster/distance_kernel.h"
#include "podere/comm/communicator.h"
#include "podere/table/table.h"

namespace podere::cluster {

/// What stands for the value x of feature j: (x - shift[j]) * factor[j], rounded once to float32.
struct Units {
  std::vector<double> shift;
  std::vector<double> factor;  ///< finite, above 0
  bool operator==(const Units&) const = default;

  static void visit_fields(auto& self, auto&& visit) {
    visit("shift", self.shift);
    visit("factor", self.factor);
  }
};

/// Throws InputError for units that are not of so many features, and for none.
void check_units(const Units& units, std::size_t n_features);

/// What is known of the features of some rows, in units.
struct Spread {
  Units units;
  std::vector<double> bound;     ///< no value of the feature is larger in magnitude [n_features]
  std::vector<double> variance;  ///< of n, whatever the weights [n_features]
};

/// Units with zero at the mean of each feature. They have a common factor, a power of two, that makes the widest
/// feature at most 1 in magnitude: distances are those between the values, as if in another unit of length. Or, if
/// `standardizes`, factors by which each feature has the standard deviation 1. Collective. Throws InputError, on all
/// ranks, for a value that is missing or infinite, by row and column, and for weights that are negative or not finite,
/// or sum to 0.
Spread measure_spread(const table::Table& table, bool standardizes, const comm::Communicator& comm, int n_threads);

/// Rows of this executor in units. What it is made of outlives it.
class ScaledRows {
 public:
  /// `columns` [n_features][n_rows]; `weights` [n_rows], or empty: all 1.
  ScaledRows(std::vector<std::span<const float>> columns, std::span<const float> weights, table::RowRange rows,
             std::uint64_t n_global_rows, const Units& units);
  ScaledRows(const table::Table& table, const Units& units);

  std::size_t n_rows() const { return static_cast<std::size_t>(rows_.size()); }
  std::size_t n_features() const { return columns_.size(); }
  std::uint64_t n_global_rows() const { return n_global_rows_; }
  table::GlobalRow global(std::size_t row) const { return {rows_.begin + row}; }
  bool has_weights() const { return !weights_.empty(); }
  float weight(std::size_t row) const { return weights_.empty() ? 1.0F : weights_[row]; }

  /// Of up to kTileRows rows; places of the tile beyond them are 0. What lies too far away for its square to be a
  /// float32 is moved to where it is just one.
  void pack(std::span<const std::size_t> rows, float* tile) const;
  /// Of rows [begin, end).
  void pack(std::size_t begin, std::size_t end, float* tile) const;
  /// The values [n_features] of one row.
  std::vector<float> values(std::size_t row) const;

 private:
  std::vector<std::span<const float>> columns_;
  std::span<const float> weights_;
  table::RowRange rows_;
  std::uint64_t n_global_rows_;
  Units units_;
};

}  // namespace podere::cluster
