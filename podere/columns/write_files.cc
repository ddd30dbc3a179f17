#include "podere/columns/write_files.h"

#include <fmt/format.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <numeric>
#include <string>
#include <string_view>

#include "podere/base/atomic_file.h"
#include "podere/base/error.h"
#include "podere/columns/npy_header.h"
#include "podere/io/write_csv.h"
#include "podere/io/write_lines.h"

namespace podere::columns {
namespace {

static_assert(std::endian::native == std::endian::little);

using Path = std::filesystem::path;

/// A file with these bytes and no others, whether it was there or not. Local.
void make_file(const Path& path, std::string_view bytes) {
  if (!std::ofstream(path)) throw_input_error("{}: cannot be written: {}", path.string(), std::strerror(errno));
  write_into(path, 0, bytes);
}

/// The names of `n` columns of a matrix, as a field of CSV each.
std::string fields_of_names(const std::string& name, std::uint64_t n, const std::vector<std::string>& names) {
  std::string line;
  for (std::uint64_t j = 0; j < n; ++j) {
    if (j > 0) line += ',';
    line += io::field_of(names.empty() ? fmt::format("{}{}", name, j + 1) : names[j]);
  }
  return line;
}

void append_values(std::span<const double> values, std::string& text) {
  for (const double value : values) {
    fmt::format_to(std::back_inserter(text), "{},", value);
  }
  text.back() = '\n';
}

/// Local.
std::string csv_of(const NamedValues& array) {
  const bool is_vector = array.shape.size() == 1;
  const std::size_t width =
      std::accumulate(array.shape.begin() + 1, array.shape.end(), std::size_t{1}, std::multiplies());
  const bool has_names = !array.row_names.empty();
  std::string text = has_names ? "column," : "";
  text += is_vector ? array.name : fields_of_names(array.name, width, array.column_names);
  text += '\n';
  for (std::size_t i = 0; i < array.shape[0]; ++i) {
    if (has_names) text += io::field_of(array.row_names[i]) + ',';
    append_values(std::span(array.values).subspan(i * width, width), text);
  }
  return text;
}

}  // namespace

void write_npy_files(const Path& folder, const WrittenArrays& written, const comm::Communicator& comm) {
  const auto file_of = [&](const std::string& name) { return folder / (name + ".npy"); };
  const linalg::TallRows* const rows = written.rows;
  const std::string head = rows == nullptr ? "" : npy_header({rows->n_global_rows(), rows->n_columns()});
  comm.agree([&] {
    if (!comm.is_root()) return;
    for (const NamedValues& array : written.arrays) {
      make_file(file_of(array.name), npy_header(array.shape) + std::string(value_bytes(array.values)));
    }
    if (rows != nullptr) make_file(file_of(written.rows_name), head);
  });
  comm.agree([&] {
    if (rows == nullptr) return;
    const std::uint64_t begin = head.size() + rows->rows().begin * rows->n_columns() * sizeof(double);
    write_into(file_of(written.rows_name), begin, value_bytes(rows->values()));
  });
}

void write_csv_files(const Path& folder, const WrittenArrays& written, const comm::Communicator& comm, int n_threads) {
  const auto file_of = [&](const std::string& name) { return folder / (name + ".csv"); };
  comm.agree([&] {
    if (!comm.is_root()) return;
    for (const NamedValues& array : written.arrays) make_file(file_of(array.name), csv_of(array));
    if (written.rows != nullptr) make_file(file_of(written.rows_name), "");
  });
  if (written.rows == nullptr) return;
  const linalg::TallRows& rows = *written.rows;
  const auto format = [&](std::size_t begin, std::size_t end, std::string& text) {
    for (std::size_t i = begin; i < end; ++i) append_values(rows.row(i), text);
  };
  const std::string head = fields_of_names(written.rows_name, rows.n_columns(), {}) + '\n';
  io::write_lines(file_of(written.rows_name), head, rows.n_rows(), format, comm, n_threads);
}

}  // namespace podere::columns
