#include "podere/columns/raw_file.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "podere/base/error.h"
#include "podere/columns/npy_array.h"
#include "podere/columns/npy_type.h"
#include "podere/io/byte_source.h"

namespace podere::columns {
namespace {

/// As a header of NumPy has it: "<f4" of float32.
NpyType npy_type(const RawLayout& layout) {
  const std::string name = to_string(layout.type);
  const std::size_t digits = name.find_first_of("0123456789");
  const int n_bits = std::stoi(name.substr(digits));
  return *parse_npy_type(fmt::format("{}{}{}", layout.is_big_endian ? '>' : '<', name[0], n_bits / 8));
}

std::uint64_t bytes_of_file(const std::string& location) {
  return io::count_bytes(*io::open_bytes(location), std::numeric_limits<std::uint64_t>::max());
}

}  // namespace

std::unique_ptr<ColumnFile> open_raw_rows(const std::string& location, const RawLayout& layout) {
  if (layout.n_columns < 1 || layout.n_columns > kMostArrayColumns) {
    throw_input_error("{}: --raw-columns is {}, allowed is 1 to {}", location, layout.n_columns, kMostArrayColumns);
  }
  const NpyType type = npy_type(layout);
  io::SourceVersion version = io::version_of(location);
  const std::uint64_t row_bytes = layout.n_columns * type.bytes;
  const std::uint64_t n_bytes = bytes_of_file(location);
  if (n_bytes < layout.skip_bytes || (n_bytes - layout.skip_bytes) % row_bytes != 0) {
    const std::string skipped = layout.skip_bytes == 0 ? "" : fmt::format(" after the {} to skip", layout.skip_bytes);
    throw_input_error("{}: its {} bytes are no whole number of rows{}: {} column{} of {} are {} bytes a row", location,
                      n_bytes, skipped, layout.n_columns, layout.n_columns == 1 ? "" : "s", type.name, row_bytes);
  }
  NpyHeader header{.fields = {{"", type}},
                   .element_bytes = type.bytes,
                   .shape = {(n_bytes - layout.skip_bytes) / row_bytes, layout.n_columns},
                   .begin_bytes = layout.skip_bytes,
                   .values_per_row = layout.n_columns};
  return std::make_unique<NpyArray>(location, location, std::move(version), io::open_bytes(location),
                                    std::move(header));
}

}  // namespace podere::columns
