// What the footer of a Parquet file says of its columns, and where they are. Source: Apache Parquet format 2.10.0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "podere/columns/column_file.h"
#include "podere/columns/unpack.h"

namespace podere::columns {

/// How values are stored; the numbers are those of the file.
enum class Physical { kBoolean, kInt32, kInt64, kInt96, kFloat, kDouble, kBytes, kFixedBytes };

/// What stored values mean beyond their bits.
struct Meaning {
  Physical physical = Physical::kInt32;
  std::size_t size = 0;         ///< bytes of kFixedBytes
  bool is_optional = false;     ///< rows may have no value
  bool is_unsigned = false;     ///< of whole numbers
  bool is_half = false;         ///< kFixedBytes that are float16
  std::optional<int> scale;     ///< of decimals: digits behind the point
  std::int64_t per_second = 0;  ///< of timestamps, times of day and durations; 0 of dates: whole days
  bool is_duration = false;     ///< whole numbers that are days as numbers
  Kind kind = Kind::kNumber;
};

/// The values of a column in a group of rows.
struct Chunk {
  std::uint64_t begin = 0;  ///< of its first page, in the file
  std::uint64_t size = 0;   ///< of all pages, packed, with their headers
  std::int64_t n_values = 0;
  std::optional<Codec> codec;  ///< none that is known: refused when it is read
  bool is_there = false;       ///< else refused when it is read
};

struct Footer {
  std::vector<Column> columns;              ///< of the table: nested ones are one each
  std::vector<Meaning> meanings;            ///< of each column; of Kind::kOther nothing is meant
  std::vector<std::uint64_t> group_begins;  ///< as of ColumnFile
  std::vector<std::vector<Chunk>> groups;   ///< those that have rows; a chunk for each column
};

/// Throws InputError, which begins with `name`, for bytes that are no footer, of a file of `file_size` bytes.
Footer parse_footer(const std::string& name, std::span<const char> bytes, std::uint64_t file_size);

}  // namespace podere::columns
