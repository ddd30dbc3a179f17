// From arrays in memory, in any layout, to columns of a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "podere/table/row.h"
#include "podere/table/table.h"

namespace podere::table {

enum class Element { kBool, kInt8, kInt16, kInt32, kInt64, kUint8, kUint16, kUint32, kUint64, kFloat32, kFloat64 };

/// A matrix [n_rows x n_columns] in any layout, borrowed: element (i, j) lies i * row_stride + j * column_stride bytes
/// after `begin`. Strides may be 0 or negative.
struct StridedMatrix {
  const std::byte* begin = nullptr;
  std::size_t n_rows = 0;
  std::size_t n_columns = 0;
  std::ptrdiff_t row_stride = 0;
  std::ptrdiff_t column_stride = 0;
  Element element = Element::kFloat64;
};

/// Copies the matrix to columns [first, first + n_columns) of `to`, whose rows are as many, each value as the nearest
/// float32; NaN means a missing value. Throws InputError, which calls the matrix `name` and says where, for a
/// value that is infinite as float32, or if the matrix does not fit.
void fill_features(const StridedMatrix& from, std::string_view name, Table& to, std::size_t first, int n_threads);

/// The same for rows [first_row, first_row + n_rows) of `to` alone. Messages name rows by their global numbers.
void fill_features(const StridedMatrix& from, std::string_view name, Table& to, LocalRow first_row, std::size_t first,
                   int n_threads);

/// The same for one column [n] that is no feature. NaN is refused too. Its rows are numbered from `first_row` on.
void fill_column(const StridedMatrix& from, std::string_view name, std::span<float> to, int n_threads,
                 std::uint64_t first_row = 0);

/// What NumPy calls "bool", "int8", ..., "float64". Throws InputError for anything else.
Element parse_element(std::string_view name);
std::size_t size_of(Element element);

/// A sparse matrix [n_rows x n_columns] by columns, borrowed: the values of column j are those in
/// [starts[j], starts[j + 1]), in the rows `rows`. Values that stand at the same place are added.
template <typename Index, typename Value>
struct SparseColumns {
  std::size_t n_rows = 0;
  std::span<const Index> starts;  ///< [n_columns + 1]
  std::span<const Index> rows;
  std::span<const Value> values;
  std::size_t n_columns() const { return starts.empty() ? 0 : starts.size() - 1; }
};

/// As fill_features; places without a value are 0, not missing. Throws InputError too where rows or starts lead out of
/// bounds. Index is std::int32_t or std::int64_t, Value float or double.
template <typename Index, typename Value>
void fill_features(const SparseColumns<Index, Value>& from, std::string_view name, Table& to, int n_threads);

}  // namespace podere::table
