#include "podere/columns/matrix.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/nearest_name.h"
#include "podere/base/number.h"
#include "podere/base/parallel.h"
#include "podere/base/printable.h"
#include "podere/columns/first_fault.h"
#include "podere/columns/same_file.h"
#include "podere/io/memory_room.h"
#include "podere/io/text_file.h"

namespace podere::columns {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 22;  // that a thread reads at a time

/// The columns of a file that make a matrix.
struct ChosenColumns {
  std::vector<std::size_t> places;
  std::vector<io::LeftOut> left_out;
};

std::size_t find_column(const ColumnFile& file, const std::string& wanted) {
  const auto found = std::ranges::find(file.columns(), wanted, &Column::name);
  if (found != file.columns().end()) return static_cast<std::size_t>(found - file.columns().begin());
  std::vector<std::string> names;
  for (const Column& column : file.columns()) names.push_back(column.name);
  const auto place = parse_count(wanted);
  if (place && *place < names.size()) return static_cast<std::size_t>(*place);
  const auto nearest = nearest_name(wanted, names);
  throw_input_error("{}: has no column {}; {}", file.name(), printable(wanted),
                    nearest ? fmt::format("did you mean {}?", printable(*nearest))
                            : fmt::format("there are {} columns, from {} to {}", names.size(), printable(names.front()),
                                          printable(names.back())));
}

ChosenColumns choose(const ColumnFile& file, const MatrixChoice& choice) {
  if (!choice.columns.empty() && !choice.drop.empty()) {
    throw_input_error("{}: columns and drop are both chosen; choose one of them", file.name());
  }
  ChosenColumns chosen;
  for (const std::string& name : choice.columns) {
    const std::size_t place = find_column(file, name);
    if (std::ranges::find(chosen.places, place) != chosen.places.end()) {
      throw_input_error("{}: column {} is chosen twice", file.name(), printable(file.columns()[place].name));
    }
    chosen.places.push_back(place);
  }
  std::set<std::size_t> dropped;
  for (const std::string& name : choice.drop) dropped.insert(find_column(file, name));
  for (std::size_t i = 0; choice.columns.empty() && i < file.columns().size(); ++i) {
    const Column& column = file.columns()[i];
    if (dropped.contains(i)) continue;
    if (!column.left_out.empty()) {
      chosen.left_out.push_back({column.name, column.left_out});
    } else {
      chosen.places.push_back(i);
    }
  }
  if (chosen.places.empty()) throw_input_error("{}: no columns are left for a matrix", file.name());
  return chosen;
}

void refuse_other_kinds(const ColumnFile& file, const std::vector<std::size_t>& places) {
  constexpr std::size_t kMost = 5;
  std::vector<std::string> others;
  std::size_t n_others = 0;
  bool have_values = true;
  for (const std::size_t i : places) {
    const Column& column = file.columns()[i];
    if (column.kind == Kind::kNumber || column.kind == Kind::kBoolean) continue;
    have_values = have_values && column.kind != Kind::kOther;
    if (++n_others <= kMost) others.push_back(fmt::format("{} ({})", printable(column.name), column.type));
  }
  if (others.empty()) return;
  const bool is_one = n_others == 1;
  const char* const words = have_values ? (is_one ? "has none" : "have none") : "cannot be in it beside the others";
  throw_input_error(
      "{}: a matrix has numbers, and {} column{} {}: {}{}; leave {} out with --drop, {}name what to keep with "
      "--columns{}",
      file.name(), n_others, is_one ? "" : "s", words, fmt::join(others, ", "), n_others > kMost ? ", ..." : "",
      is_one ? "it" : "them", file.notes().has_keys ? "" : "or ",
      file.notes().has_keys ? ", or read one dataset alone with --key" : "");
}

std::string type_of(const ColumnFile& file, const std::vector<std::size_t>& places) {
  const std::string& first = file.columns()[places[0]].type;
  const bool is_one = std::ranges::all_of(places, [&](std::size_t i) { return file.columns()[i].type == first; });
  return is_one ? first : "several types";
}

/// Rows of one group of the file, as many as kPieceBytes hold.
std::vector<table::RowRange> pieces_of(const ColumnFile& file, table::RowRange wanted, std::size_t n_columns) {
  const std::uint64_t most = std::max<std::uint64_t>(kPieceBytes / (n_columns * sizeof(double)), 1);
  const std::vector<std::uint64_t>& begins = file.group_begins();
  std::vector<table::RowRange> pieces;
  for (std::uint64_t row = wanted.begin; row < wanted.end;) {
    const std::uint64_t group_end = *std::ranges::upper_bound(begins, row);
    // What is packed is read from the begin of a group on.
    const std::uint64_t end = file.rows_lie_behind_another() ? group_end : std::min(group_end, row + most);
    pieces.push_back({row, std::min(end, wanted.end)});
    row = pieces.back().end;
  }
  return pieces;
}

void read_piece(const ColumnFile& file, const std::vector<std::size_t>& places, table::RowRange rows, double* to) {
  const auto n_rows = static_cast<std::size_t>(rows.size());
  std::vector<double> columns(n_rows * places.size());
  std::vector<ColumnRead> wanted;
  for (std::size_t j = 0; j < places.size(); ++j) {
    wanted.push_back({.column = places[j], .doubles = std::span(columns).subspan(j * n_rows, n_rows)});
  }
  file.read(rows, wanted);
  constexpr std::size_t kTile = 16;
  for (std::size_t first = 0; first < n_rows; first += kTile) {
    for (std::size_t j = 0; j < places.size(); ++j) {
      for (std::size_t i = first; i < std::min(n_rows, first + kTile); ++i) {
        to[i * places.size() + j] = columns[j * n_rows + i];
      }
    }
  }
}

}  // namespace

void check_matrix_room(const std::string& name, std::uint64_t n_rows_here, std::size_t n_columns,
                       const comm::Communicator& comm) {
  const double bytes = static_cast<double>(n_rows_here) * static_cast<double>(n_columns) * sizeof(double);
  io::check_memory({fmt::format("{}: its rows with {} columns, as a matrix of float64,", name, n_columns), bytes,
                    "take fewer rows (--rows) or columns (--columns), or executors on more hosts"},
                   comm);
}

Matrix read_matrix(const Open& open, const MatrixChoice& choice, const comm::Communicator& comm, int n_threads) {
  std::unique_ptr<ColumnFile> file;
  ChosenColumns chosen;
  table::RowRange rows;
  comm.agree([&] {
    file = open();
    chosen = choose(*file, choice);
    refuse_other_kinds(*file, chosen.places);
    if (file->n_rows() == 0) throw_input_error("{}: has no rows", file->name());
    rows = io::choose_rows(file->name(), choice.rows, file->n_rows());
  });
  check_same(*file, comm);
  const table::RowRange mine = table::rows_of(rows.size(), comm.rank(), comm.size());
  check_matrix_room(file->name(), mine.size(), chosen.places.size(), comm);
  std::optional<Matrix> matrix;
  comm.agree([&] {
    matrix.emplace(Matrix{{rows.size(), chosen.places.size(), mine},
                          {},
                          type_of(*file, chosen.places),
                          chosen.left_out,
                          file->notes().lines});
  });
  for (const std::size_t i : chosen.places) matrix->names.push_back(file->columns()[i].name);
  io::agree_on_fault(comm, [&] {
    const table::RowRange wanted = {rows.begin + mine.begin, rows.begin + mine.end};
    const std::vector<table::RowRange> pieces = pieces_of(*file, wanted, chosen.places.size());
    std::mutex mutex;
    FirstFault first;
    const auto read_one = [&](std::size_t task, int) {
      try {
        double* const to = matrix->values.values().data() + (pieces[task].begin - wanted.begin) * chosen.places.size();
        read_piece(*file, chosen.places, pieces[task], to);
      } catch (const ColumnFault&) {
        const std::lock_guard lock(mutex);
        first.watch([] { throw; });
      }
    };
    try {
      parallel_for_in_order(n_threads, pieces.size(), read_one);
      first.rethrow();
    } catch (const ColumnFault& fault) {
      throw io::TextFileFault(fmt::format("{}: row {}, column {}: {}", file->name(), fault.row,
                                          printable(file->columns()[fault.column].name), fault.message));
    }
  });
  comm.agree([&] { file->check_unchanged(); });
  return std::move(*matrix);
}

}  // namespace podere::columns
