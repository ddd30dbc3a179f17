// What an Arrow file says of its columns, and how they lie in the buffers of a record batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "podere/columns/column_file.h"

namespace podere::columns {

namespace arrow {
struct Schema;
}

/// How the values of an array lie in its buffers.
enum class ArrowStorage {
  kOther,  ///< as no table can have them
  kNull,
  kBool,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kHalf,
  kFloat,
  kDouble,
  kDecimal,    ///< signed integers of ArrowType::n_bytes
  kText,       ///< with offsets of 32 bits
  kLargeText,  ///< with offsets of 64 bits
  kTextView
};

struct ArrowType {
  ArrowStorage storage = ArrowStorage::kOther;
  Kind kind = Kind::kOther;
  std::string text;               ///< as messages call it
  std::int64_t units_in_day = 0;  ///< of dates, times and durations: their numbers are these units; 0 of all others
  std::size_t n_bytes = 0;        ///< of a decimal
  int scale = 0;                  ///< of a decimal: digits behind the point
};

struct ArrowField {
  ArrowType type;  ///< of the dictionary's values if there is one
  std::optional<std::int64_t> dictionary;
  ArrowStorage index = ArrowStorage::kInt32;  ///< of the places in the dictionary
  // Where it begins in a record batch.
  std::size_t first_node = 0;
  std::size_t first_buffer = 0;  ///< without those of views, whose number is each batch's own
  std::size_t first_view = 0;    ///< among the fields that are views
};

struct ArrowSchema {
  std::vector<Column> columns;
  std::vector<ArrowField> fields;  ///< of each column
  // In a record batch, all together; the numbers of buffers as in ArrowField.
  std::size_t n_nodes = 0;
  std::size_t n_buffers = 0;
  std::size_t n_views = 0;
};

/// `schema` has been verified; `n_bytes`: of its file's metadata. In files before Arrow 1.0 unions have a bitmap of
/// what is there. Throws InputError, with `name`, for what cannot be read.
ArrowSchema read_arrow_schema(const std::string& name, const arrow::Schema& schema, std::size_t n_bytes,
                              bool unions_have_validity);

}  // namespace podere::columns
