// Values of NumPy arrays, as they lie in bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "podere/columns/column_file.h"

namespace podere::columns {

/// What NumPy calls a dtype, but for lists of fields.
struct NpyType {
  enum class Kind { kBool, kInt, kUint, kFloat, kBytes, kText, kDate, kDuration, kOther };

  Kind kind = Kind::kOther;
  std::size_t bytes = 0;       ///< of a value
  bool is_big_endian = false;  ///< of bytes that have an order
  std::string name;            ///< for messages: "float64", "datetime64[ns]"
  /// Of dates and durations: a value counts `n_units` of `unit`.
  char unit = 'D';
  std::int64_t n_units = 1;
};

/// The most bytes that a value or a row may have.
inline constexpr std::uint64_t kMostNpyRowBytes = std::uint64_t{1} << 30;
/// The most columns of an array: those of a grid of a tenth of a degree. A name of each is held.
inline constexpr std::uint64_t kMostArrayColumns = 10'000'000;

/// The type that a header calls so, such as "<f8", "|S12" or "<M8[ns]"; nothing if there is none. Types of more than
/// kMostNpyRowBytes are none.
std::optional<NpyType> parse_npy_type(std::string_view text);

/// What a column of such values is for a table.
Kind kind_of(const NpyType& type);

/// Sets to[i] to the value at from + i * stride, as ColumnRead has it. Returns the first place where a finite number is
/// beyond float32. Not of texts and of what is kOther.
std::optional<std::size_t> read_npy_numbers(const NpyType& type, const std::byte* from, std::size_t stride,
                                            std::span<float> to);

/// The same as float64, which has no finite number beyond it.
void read_npy_doubles(const NpyType& type, const std::byte* from, std::size_t stride, std::span<double> to);

/// The text of the value at `from`, as ColumnRead has it; nothing if it is missing. Texts end before their last zeros.
/// Throws NpyTextFault. Not of what is kOther.
std::optional<std::string> read_npy_text(const NpyType& type, const std::byte* from);

/// Why a value is no text.
struct NpyTextFault {
  std::string message;
};

}  // namespace podere::columns
