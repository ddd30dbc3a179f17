#include "podere/io/row_frames.h"

#include <numeric>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/secret.h"
#include "podere/table/strided.h"

namespace podere::io {
namespace {

constexpr std::uint32_t kMostTokenBytes = 256;
constexpr auto kLastElement = static_cast<std::uint8_t>(table::Element::kFloat64);
constexpr std::uint64_t kMostPartitionRows = std::uint64_t{1} << 40;

}  // namespace

void check_layout(const RowLayout& layout) {
  std::size_t n_features = 0;
  for (const std::size_t width : layout.blocks) n_features += width == 0 ? layout.schema.features.size() + 1 : width;
  if (n_features == 0 || n_features != layout.schema.features.size()) {
    throw_input_error("blocks of rows have {} features, allowed are the {} that have names, one at least", n_features,
                      layout.schema.features.size());
  }
}

void check_hello(const ReadBytes& read, std::string_view token) {
  std::string magic(kRowsMagic.size(), ' ');
  read(std::as_writable_bytes(std::span(magic)));
  if (magic != kRowsMagic) throw_input_error("these are no rows of Podere");
  const auto n_bytes = read_number<std::uint32_t>(read);
  if (n_bytes > kMostTokenBytes) throw_input_error("a token has at most {} bytes", kMostTokenBytes);
  std::string given(n_bytes, ' ');
  read(std::as_writable_bytes(std::span(given)));
  if (!is_same_secret(given, token)) throw_input_error("the token is not that of the session");
}

void write_answer(TcpSocket& socket, Answer answer, std::string_view text) {
  const auto n_bytes = static_cast<std::uint32_t>(text.size());
  std::string bytes(1, static_cast<char>(answer));
  bytes.append(reinterpret_cast<const char*>(&n_bytes), sizeof n_bytes).append(text);
  socket.write(bytes);
}

std::optional<table::Table> FrameReader::next(RoundedWholes& rounded) {
  const std::size_t n_rows = read_number<std::uint32_t>(read_);
  if (n_rows == 0) {
    const auto n_sent = read_number<std::uint64_t>(read_);
    if (n_sent != n_rows_) throw_input_error("{}: {} rows have come, {} were sent", name_, n_rows_, n_sent);
    return std::nullopt;
  }
  const std::size_t n_columns =
      layout_.schema.features.size() + (layout_.schema.label ? 1 : 0) + (layout_.schema.weight ? 1 : 0);
  if (n_rows > kMostFrameBytes / (n_columns * sizeof(double)) || n_rows_ + n_rows > kMostPartitionRows) {
    throw_input_error("{}: a frame has {} rows of {} columns, allowed are {} MiB", name_, n_rows, n_columns,
                      kMostFrameBytes >> 20);
  }
  table::Table rows(layout_.schema, n_rows_ + n_rows, {n_rows_, n_rows_ + n_rows});
  std::size_t first = 0;
  for (const std::size_t width : layout_.blocks) {
    const table::StridedMatrix block = read_block(n_rows, width);
    table::fill_features(block, name_, rows, first, 1);
    note_rounded(block, rows, {0}, first, rounded);
    first += width;
  }
  if (layout_.schema.label) read_column(*layout_.schema.label, rows.label());
  if (layout_.schema.weight) read_column(*layout_.schema.weight, rows.weight());
  n_rows_ += n_rows;
  return rows;
}

table::StridedMatrix FrameReader::read_block(std::size_t n_rows, std::size_t n_columns) {
  const auto element = read_number<std::uint8_t>(read_);
  if (element > kLastElement) throw_input_error("{}: a frame has values of the unknown kind {}", name_, element);
  table::StridedMatrix block = {
      .n_rows = n_rows, .n_columns = n_columns, .element = static_cast<table::Element>(element)};
  block.column_stride = static_cast<std::ptrdiff_t>(table::size_of(block.element));
  block.row_stride = block.column_stride * static_cast<std::ptrdiff_t>(n_columns);
  const std::size_t n_bytes = n_rows * static_cast<std::size_t>(block.row_stride);
  if (bytes_.size() < n_bytes) bytes_.resize(n_bytes);
  read_(std::span(bytes_).first(n_bytes));
  block.begin = bytes_.data();
  return block;
}

void FrameReader::read_column(std::string_view column, std::span<float> to) {
  table::fill_column(read_block(to.size(), 1), fmt::format("column {} of {}", column, name_), to, 1, n_rows_);
}

}  // namespace podere::io
