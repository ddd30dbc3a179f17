// Matrices with many more rows than columns, which executors hold by rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "podere/base/huge_array.h"
#include "podere/table/row.h"

namespace podere::linalg {

/// The rows that one executor holds of a matrix of float64. Values are not set at construction.
class TallMatrix {
 public:
  /// `rows`: rows_of() the matrix.
  TallMatrix(std::uint64_t n_global_rows, std::size_t n_columns, table::RowRange rows)
      : n_global_rows_(n_global_rows),
        n_columns_(n_columns),
        rows_(rows),
        values_(static_cast<std::size_t>(rows.size()) * n_columns) {}

  std::uint64_t n_global_rows() const { return n_global_rows_; }
  std::size_t n_columns() const { return n_columns_; }
  table::RowRange rows() const { return rows_; }
  std::size_t n_rows() const { return static_cast<std::size_t>(rows_.size()); }
  std::span<double> row(std::size_t i) { return values_.span().subspan(i * n_columns_, n_columns_); }
  std::span<const double> row(std::size_t i) const { return values_.span().subspan(i * n_columns_, n_columns_); }
  /// All rows here, one after another.
  std::span<double> values() { return values_.span(); }
  std::span<const double> values() const { return values_.span(); }

 private:
  std::uint64_t n_global_rows_;
  std::size_t n_columns_;
  table::RowRange rows_;
  HugeArray<double> values_;
};

/// What is computed with in place of column j of a matrix: (value - shift[j]) * factor[j], rounded twice.
struct ColumnMap {
  std::vector<double> shift;
  std::vector<double> factor;

  /// Leaves values as they are.
  static ColumnMap identity(std::size_t n_columns) {
    return {std::vector<double>(n_columns, 0.0), std::vector<double>(n_columns, 1.0)};
  }
};

/// A map whose values are at most 1 in magnitude: those of a map that is wanted, divided by 2^exponent.
struct BoundedMap {
  ColumnMap map;
  int exponent = 0;
};

}  // namespace podere::linalg
