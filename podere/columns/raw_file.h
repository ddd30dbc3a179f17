// Files of numbers alone, one row after another: no header says what they are.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "podere/base/enum_names.h"
#include "podere/columns/column_file.h"

namespace podere::columns {

/// What NumPy calls a dtype.
enum class RawType {
  kFloat32,
  kFloat64,
  kFloat16,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
};
constexpr EnumNames<11> names_of(RawType) {
  return {"raw_type",
          {"float32", "float64", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}};
}
using podere::to_string;

/// How rows lie in the bytes: after `skip_bytes` of anything, n_columns values each.
struct RawLayout {
  RawType type = RawType::kFloat32;
  std::uint64_t n_columns = 1;
  bool is_big_endian = false;
  std::uint64_t skip_bytes = 0;
};

/// Opens such a file, plain or packed, which is then read as NpyArray is: columns are called f0, f1, .... Throws
/// InputError for a layout that no table can have, and for bytes that are no whole number of rows.
std::unique_ptr<ColumnFile> open_raw_rows(const std::string& location, const RawLayout& layout);

}  // namespace podere::columns
