#include "podere/io/remote_arrays.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/parallel.h"
#include "podere/io/http_range.h"
#include "podere/io/rounded_wholes.h"
#include "podere/table/row.h"
#include "podere/table/schema_json.h"
#include "podere/table/strided.h"

namespace podere::io {
namespace {

constexpr std::size_t kReceivedBytes = std::size_t{2} << 20;  // stays in the cache between receiving and converting

/// Some rows of some columns that lie side by side in an array.
struct Piece {
  std::uint64_t begin_byte;
  table::StridedMatrix matrix;  // but for where it begins
  std::size_t first_row;        // held here
  std::size_t first_column;
  std::size_t n_bytes() const { return matrix.n_rows * matrix.n_columns * table::size_of(matrix.element); }
};

/// The rows held here of an array [n_global_rows x n_columns].
std::vector<Piece> cut(const RemoteArray& array, const table::Table& table, std::size_t n_columns) {
  std::vector<Piece> pieces;
  const table::Element element = table::parse_element(array.dtype);
  const std::size_t size = table::size_of(element);
  const bool by_columns = array.by_columns && n_columns > 1;
  const std::size_t width = by_columns ? 1 : n_columns;  // of a piece
  const std::size_t most_rows = std::max<std::size_t>(1, kReceivedBytes / (size * width));
  for (std::size_t column = 0; column < n_columns; column += width) {
    for (std::size_t row = 0; row < table.n_rows(); row += most_rows) {
      const std::uint64_t global_row = table.rows().begin + row;
      const std::uint64_t begin = by_columns ? column * table.n_global_rows() + global_row : global_row * width;
      pieces.push_back({.begin_byte = begin * size,
                        .matrix = {.n_rows = std::min(most_rows, table.n_rows() - row),
                                   .n_columns = width,
                                   .row_stride = static_cast<std::ptrdiff_t>(size * width),
                                   .column_stride = static_cast<std::ptrdiff_t>(size),
                                   .element = element},
                        .first_row = row,
                        .first_column = column});
    }
  }
  return pieces;
}

}  // namespace

table::Table read_arrays(const RemoteArrays& arrays, const comm::Communicator& comm, int n_threads, ReadFacts* facts) {
  Json columns = arrays.kinds;
  columns.update({{"features", arrays.features}, {"label", ""}, {"weight", ""}});
  table::Schema schema = table::schema_from_json(columns);
  if (arrays.label) schema.label = arrays.label_name;
  if (arrays.label) schema.classes = arrays.classes;
  if (arrays.weight) schema.weight = arrays.weight_name;
  if (arrays.n_rows == 0 || arrays.features.empty()) throw_input_error("X has no rows, or no columns");
  table::Table table(std::move(schema), arrays.n_rows, table::rows_of(arrays.n_rows, comm.rank(), comm.size()));
  RoundedWholes rounded(table.n_features());
  comm.agree([&] {
    struct Hand {
      HttpRangeReader reader;
      std::vector<std::byte> bytes;
    };
    std::vector<Hand> hands;
    for (int i = 0; i < n_threads; ++i) hands.push_back({HttpRangeReader(arrays.token), {}});
    const auto read = [&](const RemoteArray& array, std::size_t n_columns, const auto& fill) {
      const std::vector<Piece> pieces = cut(array, table, n_columns);
      parallel_for(n_threads, pieces.size(), [&](std::size_t i, int thread) {
        Piece piece = pieces[i];
        Hand& hand = hands[static_cast<std::size_t>(thread)];
        hand.bytes.resize(piece.n_bytes());
        hand.reader.read(array.url, piece.begin_byte, hand.bytes);
        piece.matrix.begin = hand.bytes.data();
        fill(piece);
      });
    };
    const auto read_column = [&](const RemoteArray& array, const char* name, std::span<float> column) {
      read(array, 1, [&](const Piece& piece) {
        table::fill_column(piece.matrix, name, column.subspan(piece.first_row, piece.matrix.n_rows), 1,
                           table.rows().begin + piece.first_row);
      });
    };
    read(arrays.values, table.n_features(), [&](const Piece& piece) {
      const table::LocalRow first_row{piece.first_row};
      table::fill_features(piece.matrix, "X", table, first_row, piece.first_column, 1);
      note_rounded(piece.matrix, table, first_row, piece.first_column, rounded);
    });
    if (arrays.label) read_column(*arrays.label, "y", table.label());
    if (arrays.weight) read_column(*arrays.weight, "sample_weight", table.weight());
  });
  if (facts != nullptr) facts->rounded = rounded.join(table.schema().features, comm);
  return table;
}

}  // namespace podere::io
