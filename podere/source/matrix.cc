#include "podere/source/matrix.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/parallel.h"
#include "podere/base/printable.h"
#include "podere/source/readers.h"

namespace podere::source {
namespace {

/// The file, if its numbers can be read as float64; null if not. Local.
std::unique_ptr<columns::ColumnFile> open_float64(const SourceSpec& spec) {
  if (spec.arrays) return nullptr;
  const Reader& reader = find_reader(spec);
  if (reader.open_file == nullptr) return nullptr;
  std::unique_ptr<columns::ColumnFile> file = reader.open_file(spec);
  return file->gives_float64() ? std::move(file) : nullptr;
}

void check_choices(const SourceSpec& spec) {
  constexpr std::array<std::string_view, 9> kHas = {"format",   "columns",     "drop",       "label",     "key",
                                                    "raw_type", "raw_columns", "big_endian", "skip_bytes"};
  check_options(find_reader(spec), spec);
  for (const std::string& choice : choices_of(spec)) {
    if (std::ranges::find(kHas, choice) != kHas.end()) continue;
    throw_input_error("{}: {} cannot be chosen: the numbers of this file are taken as they are", spec.location,
                      option_name(choice));
  }
}

/// Throws InputError.
void refuse_categories_and_dates(const table::Table& table, const std::string& name) {
  const table::Schema& schema = table.schema();
  std::vector<std::string> others;
  for (std::size_t j = 0; j < table.n_features(); ++j) {
    if (schema.is_categorical(j) || schema.dates.contains(j)) others.push_back(schema.features[j]);
  }
  if (others.empty()) return;
  const bool is_one = others.size() == 1;
  throw_input_error("{}: a matrix has numbers, and {} categories or dates: {}; leave {} out", name,
                    is_one ? "this column has" : "these columns have", printable_list(others), is_one ? "it" : "them");
}

}  // namespace

columns::Matrix matrix_of(const table::Table& table, const std::string& name, const comm::Communicator& comm,
                          int n_threads) {
  comm.agree([&] { refuse_categories_and_dates(table, name); });
  columns::check_matrix_room(name, table.n_rows(), table.n_features(), comm);
  std::optional<columns::Matrix> matrix;
  comm.agree([&] {
    matrix.emplace(
        columns::Matrix{{table.n_global_rows(), table.n_features(), table.rows()}, table.schema().features, "float32"});
  });
  constexpr std::size_t kGrainRows = 64;
  parallel_for_slices(n_threads, table.n_rows(), kGrainRows, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t j = 0; j < table.n_features(); ++j) {
      const std::span<const float> feature = table.feature(j);
      for (std::size_t i = begin; i < end; ++i) matrix->values.row(i)[j] = feature[i];
    }
  });
  return std::move(*matrix);
}

columns::Matrix load_matrix(const SourceSpec& spec, const comm::Communicator& comm, int n_threads,
                            io::ReadFacts* facts) {
  SourceSpec found = with_format(spec, comm);
  found.numbers_only = true;
  std::unique_ptr<columns::ColumnFile> file;
  comm.agree([&] { file = open_float64(found); });
  if (comm.all_reduce(std::int32_t{file == nullptr}, comm::Reduction::kMax) != 0) {
    return matrix_of(load(found, false, comm, n_threads, facts), found.location, comm, n_threads);
  }
  comm.agree([&] { check_choices(found); });
  columns::MatrixChoice choice{found.columns, found.drop, found.rows};
  if (found.label && choice.columns.empty()) choice.drop.push_back(*found.label);
  const auto open = [&] { return std::move(file); };
  columns::Matrix matrix = columns::read_matrix(open, choice, comm, n_threads);
  if (facts != nullptr) {
    facts->left_out = matrix.left_out;
    facts->notes = matrix.notes;
  }
  return matrix;
}

}  // namespace podere::source
