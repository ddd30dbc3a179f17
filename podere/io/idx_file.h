// An IDX file as rows of numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "podere/io/byte_source.h"
#include "podere/table/row.h"
#include "podere/table/strided.h"

namespace podere::io {

/// An array of any number of dimensions; the first counts its rows. Plain or gzip. The file:
///
///     0 0 | type | n_dimensions | size of each dimension: 4 bytes, big-endian | values: big-endian, last index first
///
/// Source: Y. LeCun, C. Cortes, C. J. C. Burges, The MNIST database, "The IDX file format".
class IdxFile {
 public:
  /// Reads the header, and a gzip file to its end. Throws InputError, with file and byte, for a header that is none, a
  /// dimension that is 0 or sizes that no file can have, and if the values are not as many as the header says.
  explicit IdxFile(const std::string& location);

  const std::string& name() const { return name_; }
  table::Element element() const { return element_; }
  std::size_t n_dimensions() const { return sizes_.size(); }
  std::uint64_t n_rows() const { return sizes_[0]; }
  std::uint64_t values_per_row() const { return values_per_row_; }

  /// Rows side by side, in this machine's byte order: `values` [rows.size() x values_per_row()].
  struct Piece {
    table::RowRange rows;
    table::StridedMatrix values;  ///< which lives until `take` returns
  };
  /// Calls `take` with pieces that are rows [rows.begin, rows.end) together, on several threads. Throws InputError if
  /// the file is no longer what it was.
  void read(table::RowRange rows, const std::function<void(const Piece&)>& take, int n_threads) const;

  /// Throws InputError if the file is not what it was when it was opened.
  void check_unchanged() const;

 private:
  class PieceReader;
  void read_header(ByteCursor& cursor);
  void check_size();
  std::string shape() const;
  std::uint64_t row_bytes() const { return values_per_row_ * table::size_of(element_); }
  std::uint64_t begin_bytes() const { return 4 + 4 * sizes_.size(); }
  std::uint64_t total_bytes() const { return begin_bytes() + n_rows() * row_bytes(); }
  /// The first row that does not begin before byte `offset`.
  std::uint64_t row_at(std::uint64_t offset) const;

  std::string name_;
  SourceVersion version_;
  std::unique_ptr<ByteSource> source_;
  table::Element element_ = table::Element::kUint8;
  std::vector<std::uint64_t> sizes_;
  std::uint64_t values_per_row_ = 1;
};

}  // namespace podere::io
