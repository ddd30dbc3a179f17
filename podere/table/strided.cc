#include "podere/table/strided.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/parallel.h"

namespace podere::table {
namespace {

constexpr float kMostFloat = std::numeric_limits<float>::max();

template <typename T>
T read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);  // arrays need not be aligned
  return value;
}

/// Whether some of `n` values were infinite.
template <typename T>
bool copy_values(const std::byte* from, std::ptrdiff_t stride, std::size_t n, float* to) {
  int is_infinite = 0;
  const auto copy = [&](std::ptrdiff_t step) {
    for (std::size_t i = 0; i < n; ++i) {
      const auto value = static_cast<float>(read<T>(from + static_cast<std::ptrdiff_t>(i) * step));
      is_infinite |= std::abs(value) > kMostFloat ? 1 : 0;
      to[i] = value;
    }
  };
  if (stride == sizeof(T)) {
    copy(sizeof(T));  // known to the compiler: with vectors
  } else {
    copy(stride);
  }
  return is_infinite != 0;
}

using CopyValues = bool (*)(const std::byte* from, std::ptrdiff_t stride, std::size_t n, float* to);

CopyValues copier_of(Element element) {
  switch (element) {
    case Element::kBool:
    case Element::kUint8:
      return copy_values<std::uint8_t>;
    case Element::kInt8:
      return copy_values<std::int8_t>;
    case Element::kInt16:
      return copy_values<std::int16_t>;
    case Element::kInt32:
      return copy_values<std::int32_t>;
    case Element::kInt64:
      return copy_values<std::int64_t>;
    case Element::kUint16:
      return copy_values<std::uint16_t>;
    case Element::kUint32:
      return copy_values<std::uint32_t>;
    case Element::kUint64:
      return copy_values<std::uint64_t>;
    case Element::kFloat32:
      return copy_values<float>;
    case Element::kFloat64:
      return copy_values<double>;
  }
  throw Error("unknown element");
}

[[noreturn]] void refuse_infinity(std::string_view name, std::size_t row, std::size_t column) {
  throw_input_error(
      "{} has infinity, or a value too large for float32, in row {}, column {}; allowed are finite numbers", name, row,
      column);
}

/// Rows that are copied column by column while they stay in the first-level cache.
std::size_t rows_of_piece(const StridedMatrix& from) {
  constexpr std::size_t kCacheBytes = 32 << 10;
  constexpr std::size_t kLeast = 16;  // a line of a column
  constexpr std::size_t kMost = 4096;
  const auto row_bytes = static_cast<std::size_t>(std::abs(from.row_stride));
  return std::clamp(kCacheBytes / std::max<std::size_t>(row_bytes, 1) / kLeast * kLeast, kLeast, kMost);
}

constexpr std::array<std::pair<std::string_view, std::size_t>, 11> kElements = {{{"bool", 1},
                                                                                 {"int8", 1},
                                                                                 {"int16", 2},
                                                                                 {"int32", 4},
                                                                                 {"int64", 8},
                                                                                 {"uint8", 1},
                                                                                 {"uint16", 2},
                                                                                 {"uint32", 4},
                                                                                 {"uint64", 8},
                                                                                 {"float32", 4},
                                                                                 {"float64", 8}}};  // as Element

}  // namespace

Element parse_element(std::string_view name) {
  const auto found = std::ranges::find_if(kElements, [&](const auto& known) { return known.first == name; });
  if (found == kElements.end()) throw_input_error("an array of {}: allowed are bool, int8 to float64", name);
  return static_cast<Element>(found - kElements.begin());
}

std::size_t size_of(Element element) { return kElements.at(static_cast<std::size_t>(element)).second; }

void fill_features(const StridedMatrix& from, std::string_view name, Table& to, std::size_t first, int n_threads) {
  if (from.n_rows != to.n_rows() || first + from.n_columns > to.n_features()) {
    throw_input_error("{} has {} rows and {} columns, which do not fit a table of {} and {}", name, from.n_rows,
                      from.n_columns, to.n_rows(), to.n_features());
  }
  fill_features(from, name, to, LocalRow{0}, first, n_threads);
}

void fill_features(const StridedMatrix& from, std::string_view name, Table& to, LocalRow first_row, std::size_t first,
                   int n_threads) {
  if (first_row.value + from.n_rows > to.n_rows() || first + from.n_columns > to.n_features()) {
    throw_input_error("{} has {} rows from {} on and {} columns, which do not fit a table of {} and {}", name,
                      from.n_rows, first_row.value, from.n_columns, to.n_rows(), to.n_features());
  }
  const CopyValues copy = copier_of(from.element);
  parallel_for_slices(n_threads, from.n_rows, rows_of_piece(from), [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t j = 0; j < from.n_columns; ++j) {
      const std::byte* const source = from.begin + static_cast<std::ptrdiff_t>(begin) * from.row_stride +
                                      static_cast<std::ptrdiff_t>(j) * from.column_stride;
      const std::span<float> target = to.feature(first + j).subspan(first_row.value + begin, end - begin);
      if (!copy(source, from.row_stride, target.size(), target.data())) continue;
      const auto found = std::ranges::find_if(target, [](float value) { return std::abs(value) > kMostFloat; });
      const std::size_t row = first_row.value + begin + static_cast<std::size_t>(found - target.begin());
      refuse_infinity(name, to.global({row}).value, first + j);
    }
  });
}

void fill_column(const StridedMatrix& from, std::string_view name, std::span<float> to, int n_threads,
                 std::uint64_t first_row) {
  if (from.n_rows != to.size() || from.n_columns != 1) {
    throw_input_error("{} has {} values, which do not fit {} rows", name, from.n_rows, to.size());
  }
  constexpr std::size_t kGrain = 65536;
  const CopyValues copy = copier_of(from.element);
  parallel_for_slices(n_threads, from.n_rows, kGrain, [&](std::size_t begin, std::size_t end, int) {
    const std::span<float> target = to.subspan(begin, end - begin);
    copy(from.begin + static_cast<std::ptrdiff_t>(begin) * from.row_stride, from.row_stride, target.size(),
         target.data());
    const auto found = std::ranges::find_if_not(target, [](float value) { return std::isfinite(value); });
    if (found == target.end()) return;
    throw_input_error("{} has NaN, infinity or a value too large for float32 in row {}; allowed are finite numbers",
                      name, first_row + begin + static_cast<std::size_t>(found - target.begin()));
  });
}

template <typename Index, typename Value>
void fill_features(const SparseColumns<Index, Value>& from, std::string_view name, Table& to, int n_threads) {
  if (from.n_rows != to.n_rows() || from.n_columns() != to.n_features() || from.rows.size() != from.values.size()) {
    throw_input_error("{} has {} rows and {} columns, which do not fit a table of {} and {}", name, from.n_rows,
                      from.n_columns(), to.n_rows(), to.n_features());
  }
  parallel_for(n_threads, from.n_columns(), [&](std::size_t j, int) {
    const std::span<float> target = to.feature(j);
    std::ranges::fill(target, 0.0F);
    const auto begin = static_cast<std::size_t>(from.starts[j]);
    const auto end = static_cast<std::size_t>(from.starts[j + 1]);
    if (begin > end || end > from.values.size()) {
      throw_input_error("{} is sparse and column {} leads out of its values", name, j);
    }
    for (std::size_t k = begin; k < end; ++k) {
      const auto row = static_cast<std::size_t>(from.rows[k]);
      if (row >= target.size()) throw_input_error("{} is sparse and column {} leads out of its rows", name, j);
      target[row] = static_cast<float>(static_cast<Value>(target[row]) + from.values[k]);
      if (std::abs(target[row]) > kMostFloat) refuse_infinity(name, row, j);
    }
  });
}

template void fill_features(const SparseColumns<std::int32_t, float>&, std::string_view, Table&, int);
template void fill_features(const SparseColumns<std::int32_t, double>&, std::string_view, Table&, int);
template void fill_features(const SparseColumns<std::int64_t, float>&, std::string_view, Table&, int);
template void fill_features(const SparseColumns<std::int64_t, double>&, std::string_view, Table&, int);

}  // namespace podere::table
