// Matrices with many more rows than columns, which executors hold by rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "podere/base/huge_array.h"
#include "podere/table/row.h"

namespace podere::linalg {

/// The rows that one executor holds of a matrix of float64, row by row, wherever they are: to be read as long as they
/// are there.
class TallRows {
 public:
  /// `rows`: rows_of() the matrix. `values` [rows.size() x n_columns].
  TallRows(std::uint64_t n_global_rows, std::size_t n_columns, table::RowRange rows, const double* values)
      : n_global_rows_(n_global_rows), n_columns_(n_columns), rows_(rows), values_(values) {}

  std::uint64_t n_global_rows() const { return n_global_rows_; }
  std::size_t n_columns() const { return n_columns_; }
  table::RowRange rows() const { return rows_; }
  std::size_t n_rows() const { return static_cast<std::size_t>(rows_.size()); }
  std::span<const double> row(std::size_t i) const { return {values_ + i * n_columns_, n_columns_}; }
  /// All rows here, one after another.
  std::span<const double> values() const { return {values_, n_rows() * n_columns_}; }

 private:
  std::uint64_t n_global_rows_;
  std::size_t n_columns_;
  table::RowRange rows_;
  const double* values_;
};

/// Such rows in memory of their own. Values are not set at construction.
class TallMatrix : public TallRows {
 public:
  TallMatrix(std::uint64_t n_global_rows, std::size_t n_columns, table::RowRange rows)
      : TallMatrix(n_global_rows, n_columns, rows,
                   HugeArray<double>(static_cast<std::size_t>(rows.size()) * n_columns)) {}

  using TallRows::row;
  using TallRows::values;
  std::span<double> row(std::size_t i) { return memory_.span().subspan(i * n_columns(), n_columns()); }
  std::span<double> values() { return memory_.span(); }
  /// Leaves all other columns out. `columns` rise.
  void keep_columns(std::span<const std::size_t> columns);

 private:
  TallMatrix(std::uint64_t n_global_rows, std::size_t n_columns, table::RowRange rows, HugeArray<double> memory)
      : TallRows(n_global_rows, n_columns, rows, memory.data()), memory_(std::move(memory)) {}

  HugeArray<double> memory_;
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
