#include "podere/columns/npy_array.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "podere/base/error.h"
#include "podere/columns/first_fault.h"
#include "podere/table/features.h"

namespace podere::columns {
namespace {

constexpr std::uint64_t kNpyGroupBytes = std::uint64_t{1} << 21;
constexpr std::uint64_t kNpyGroupRows = std::uint64_t{1} << 16;
constexpr std::size_t kNpyPieceBytes = std::size_t{1} << 18;  // stays in the cache between reading and converting

}  // namespace

NpyArray::NpyArray(std::string name, std::string location, io::SourceVersion version,
                   std::unique_ptr<io::ByteSource> source)
    : name_(std::move(name)),
      location_(std::move(location)),
      version_(std::move(version)),
      source_(std::move(source)),
      header_(read_npy_header(name_, *source_->cursor_at(0), source_->size())) {
  plan();
}

NpyArray::NpyArray(std::string name, std::string location, io::SourceVersion version,
                   std::unique_ptr<io::ByteSource> source, NpyHeader header)
    : name_(std::move(name)),
      location_(std::move(location)),
      version_(std::move(version)),
      source_(std::move(source)),
      header_(std::move(header)) {
  plan();
}

void NpyArray::plan() {
  check_size();
  name_columns();
  find_groups();
}

void NpyArray::check_size() {
  const std::uint64_t row_bytes = header_.row_bytes();
  const auto shape = [&] {
    return fmt::format("[{}] of {} bytes", fmt::join(header_.shape, ", "), header_.element_bytes);
  };
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max() / 2;
  if (row_bytes > 0 && n_rows_named() > kMost / row_bytes) {
    throw_input_error("{}: the header says {}, which no file has", name_, shape());
  }
  total_bytes_ = header_.begin_bytes + n_rows_named() * row_bytes;
  const std::uint64_t size = io::count_bytes(*source_, total_bytes_);
  if (size < total_bytes_) {
    throw_input_error("{}: byte {}: the file is cut: its header says {}, {} bytes in all", name_, size, shape(),
                      total_bytes_);
  }
  if (size > total_bytes_) {
    throw_input_error("{}: byte {}: the file continues after its array {}; save one array in a file", name_,
                      total_bytes_, shape());
  }
}

void NpyArray::name_columns() {
  if (header_.has_fields) {
    for (const NpyHeader::Field& field : header_.fields) {
      columns_.push_back({field.name, kind_of(field.type), field.type.name, field.left_out});
    }
    return;
  }
  const NpyType& type = header_.fields[0].type;
  for (std::uint64_t j = 0; j < header_.values_per_row; ++j) {
    columns_.push_back({.name = header_.shape.size() > 2 ? table::pixel_name(j) : fmt::format("f{}", j),
                        .kind = kind_of(type),
                        .type = type.name});
  }
}

void NpyArray::find_groups() {
  const std::uint64_t n_rows = n_rows_named();
  // A run of bytes that is read for a group: all of its rows, or one of its columns.
  const std::uint64_t run_bytes =
      std::max<std::uint64_t>(is_by_columns() ? header_.element_bytes : header_.row_bytes(), 1);
  const std::uint64_t stride = source_->stride();
  std::uint64_t group_rows = std::max<std::uint64_t>(kNpyGroupBytes / run_bytes, 1);
  if (stride == 0) group_rows = std::min(group_rows, kNpyGroupRows);
  // What is packed is read from where a cursor can start.
  const std::uint64_t stride_rows = std::max<std::uint64_t>(stride / run_bytes, 1);
  group_rows = (group_rows + stride_rows - 1) / stride_rows * stride_rows;
  if (columns_.empty()) group_rows = std::max<std::uint64_t>(n_rows, 1);
  for (std::uint64_t row = 0; row < n_rows; row += std::min(group_rows, n_rows - row)) group_begins_.push_back(row);
  group_begins_.push_back(n_rows);
}

bool NpyArray::columns_lie_apart() const { return columns_.size() == 1 || (is_by_columns() && source_->stride() == 0); }

// Column f = (.. * size[d] + index[d]) .. of indices [1..], the last fastest, lies where the first is fastest.
std::uint64_t NpyArray::fortran_place(std::size_t column) const {
  std::uint64_t place = 0, rest = column;
  // From the last index, which varies slowest in the file, on.
  std::uint64_t weight = header_.values_per_row;
  for (std::size_t d = header_.shape.size(); d-- > 1;) {
    weight /= header_.shape[d];
    place += rest % header_.shape[d] * weight;
    rest /= header_.shape[d];
  }
  return place;
}

void NpyArray::read(table::RowRange rows, std::span<const ColumnRead> wanted) const {
  if (!is_by_columns()) return read_records(rows, wanted);
  std::vector<std::pair<std::uint64_t, const ColumnRead*>> places;
  for (const ColumnRead& column : wanted) places.emplace_back(fortran_place(column.column), &column);
  std::ranges::sort(places);
  FirstFault first;
  for (const auto& entry : places) first.watch([&] { read_column(rows, *entry.second); });
  first.rethrow();
}

void NpyArray::read_records(table::RowRange rows, std::span<const ColumnRead> wanted) const {
  const auto row_bytes = static_cast<std::size_t>(header_.row_bytes());
  if (row_bytes == 0 || rows.size() == 0) return;
  const auto cursor = source_->cursor_at(header_.begin_bytes + rows.begin * row_bytes);
  const std::uint64_t piece_rows = std::max<std::uint64_t>(kNpyPieceBytes / row_bytes, 1);
  std::vector<std::byte> piece(static_cast<std::size_t>(std::min(piece_rows, rows.size())) * row_bytes);
  for (std::uint64_t first = 0; first < rows.size(); first += piece_rows) {
    const auto n = static_cast<std::size_t>(std::min(piece_rows, rows.size() - first));
    fill(*cursor, std::span(piece).first(n * row_bytes));
    FirstFault fault;
    for (const ColumnRead& column : wanted) {
      const std::size_t offset = header_.has_fields ? header_.fields[column.column].offset
                                                    : column.column * static_cast<std::size_t>(header_.element_bytes);
      fault.watch([&] { take(column, rows, static_cast<std::size_t>(first), n, piece.data() + offset, row_bytes); });
    }
    fault.rethrow();
  }
}

void NpyArray::read_column(table::RowRange rows, const ColumnRead& wanted) const {
  const auto bytes = static_cast<std::size_t>(header_.element_bytes);
  const std::uint64_t place = fortran_place(wanted.column) * n_rows_named() + rows.begin;
  const auto cursor = source_->cursor_at(header_.begin_bytes + place * bytes);
  const std::uint64_t piece_rows = std::max<std::uint64_t>(kNpyPieceBytes / bytes, 1);
  std::vector<std::byte> piece(static_cast<std::size_t>(std::min(piece_rows, rows.size())) * bytes);
  for (std::uint64_t first = 0; first < rows.size(); first += piece_rows) {
    const auto n = static_cast<std::size_t>(std::min(piece_rows, rows.size() - first));
    fill(*cursor, std::span(piece).first(n * bytes));
    take(wanted, rows, static_cast<std::size_t>(first), n, piece.data(), bytes);
  }
}

void NpyArray::fill(io::ByteCursor& cursor, std::span<std::byte> bytes) const {
  if (cursor.read({reinterpret_cast<char*>(bytes.data()), bytes.size()}) < bytes.size()) {
    throw_input_error("{}: changed while it was read", location_);
  }
}

void NpyArray::take(const ColumnRead& wanted, table::RowRange rows, std::size_t first, std::size_t n,
                    const std::byte* from, std::size_t stride) const {
  const NpyType& type = header_.fields[header_.has_fields ? wanted.column : 0].type;
  const auto fault = [&](std::size_t row, std::string message) {
    return ColumnFault{rows.begin + first + row, wanted.column, std::move(message)};
  };
  if (!wanted.doubles.empty()) return read_npy_doubles(type, from, stride, wanted.doubles.subspan(first, n));
  if (!wanted.numbers.empty()) {
    const auto beyond = read_npy_numbers(type, from, stride, wanted.numbers.subspan(first, n));
    if (!beyond) return;
    const std::string value = read_npy_text(type, from + *beyond * stride).value_or("");
    throw fault(*beyond, fmt::format("{} is beyond float32, which ends at 3.4e38", value));
  }
  for (std::size_t i = 0; i < n; ++i) {
    try {
      if (const auto text = read_npy_text(type, from + i * stride)) wanted.take_text(first + i, *text);
    } catch (const NpyTextFault& text_fault) {
      throw fault(i, text_fault.message);
    }
  }
}

void NpyArray::check_unchanged() const {
  if (io::version_of(location_) != version_) throw_input_error("{}: changed while it was read", location_);
}

}  // namespace podere::columns
