// An array of NumPy as columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "podere/columns/column_file.h"
#include "podere/columns/npy_header.h"
#include "podere/io/byte_source.h"

namespace podere::columns {

/// Rows are the first dimension; all others are flattened, last index first, whatever the order in the file. Columns
/// are called f0, f1, ... of one or two dimensions, pixel1, pixel2, ... of more, as those of IDX files, or as the
/// fields of the array.
class NpyArray final : public ColumnFile {
 public:
  /// Reads the header, and what is packed to its end. `location`: of the file of which the source is a part or all,
  /// which had `version` before it was opened. Throws InputError, with `name`, for a header that is none, values that
  /// no table can have, and if there are not as many as the header says.
  NpyArray(std::string name, std::string location, io::SourceVersion version, std::unique_ptr<io::ByteSource> source);
  /// Of bytes that another header describes.
  NpyArray(std::string name, std::string location, io::SourceVersion version, std::unique_ptr<io::ByteSource> source,
           NpyHeader header);

  const std::string& name() const override { return name_; }
  const std::vector<Column>& columns() const override { return columns_; }
  const std::vector<std::uint64_t>& group_begins() const override { return group_begins_; }
  bool columns_lie_apart() const override;
  bool gives_float64() const override { return true; }
  void read(table::RowRange rows, std::span<const ColumnRead> wanted) const override;
  void check_unchanged() const override;

  const std::vector<std::uint64_t>& shape() const { return header_.shape; }
  std::size_t n_dimensions() const { return header_.shape.size(); }
  bool has_fields() const { return header_.has_fields; }

 private:
  void plan();
  void name_columns();
  void check_size();
  void find_groups();
  std::uint64_t n_rows_named() const { return header_.shape[0]; }
  bool is_by_columns() const { return header_.is_fortran && header_.values_per_row > 1; }
  /// Of a column in Fortran order, the place among the columns of the file.
  std::uint64_t fortran_place(std::size_t column) const;
  void read_records(table::RowRange rows, std::span<const ColumnRead> wanted) const;
  void read_column(table::RowRange rows, const ColumnRead& wanted) const;
  /// Throws InputError if there are fewer bytes.
  void fill(io::ByteCursor& cursor, std::span<std::byte> bytes) const;
  /// Values at from, from + stride, ..., of rows that begin `first` behind `rows.begin`.
  void take(const ColumnRead& wanted, table::RowRange rows, std::size_t first, std::size_t n, const std::byte* from,
            std::size_t stride) const;

  std::string name_;
  std::string location_;
  io::SourceVersion version_;
  std::unique_ptr<io::ByteSource> source_;
  NpyHeader header_;
  std::uint64_t total_bytes_ = 0;
  std::vector<Column> columns_;
  std::vector<std::uint64_t> group_begins_;
};

}  // namespace podere::columns
