#include "podere/io/idx.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <span>

#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/io/idx_file.h"
#include "podere/io/memory_room.h"
#include "podere/io/rounded_wholes.h"
#include "podere/io/text_file.h"
#include "podere/table/features.h"

namespace podere::io {
namespace {

std::string feature_name(const IdxFile& file, std::uint64_t feature) {
  return file.n_dimensions() > 2 ? table::pixel_name(feature) : fmt::format("f{}", feature);
}

/// The value of a row that is the feature of this name.
std::size_t find_feature(const IdxFile& file, const std::string& name) {
  const std::uint64_t first = file.n_dimensions() > 2 ? 1 : 0;
  const auto digits = std::min(name.find_first_of("0123456789"), name.size());
  std::uint64_t number = 0;
  std::from_chars(name.data() + digits, name.data() + name.size(), number);
  if (number >= first && number - first < file.values_per_row() && name == feature_name(file, number - first)) {
    return static_cast<std::size_t>(number - first);
  }
  throw_input_error("{}: there is no feature {}; there are {} to {}", file.name(), printable(name),
                    feature_name(file, 0), feature_name(file, file.values_per_row() - 1));
}

/// A file that was found fit to be read, its labels, and which of its rows this rank holds.
class OpenIdx {
 public:
  /// Collective. Throws InputError on all ranks.
  OpenIdx(const std::string& location, const IdxOptions& options, const comm::Communicator& comm) {
    comm.agree([&] {
      file_.emplace(location);
      if (!options.labels.empty()) open_labels(options.labels);
      chosen_ = choose_rows(file_->name(), options.rows, file_->n_rows());
      choose_columns(options.columns);
    });
    const std::array<std::uint64_t, 3> shape = {file_->n_rows(), file_->values_per_row(),
                                                static_cast<std::uint64_t>(file_->element())};
    const auto shapes = comm.all_gather(std::span<const std::uint64_t>(shape));
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      if (shapes[i] != shapes[i % shape.size()]) {
        throw_input_error("{}: is not the same file on all executors", file_->name());
      }
    }
    rows_ = table::rows_of(chosen_.size(), comm.rank(), comm.size());
  }

  const std::string& name() const { return file_->name(); }
  const table::Schema& schema() const { return schema_; }
  std::uint64_t n_global_rows() const { return chosen_.size(); }
  table::RowRange rows() const { return rows_; }

  /// Sets the values of `table`, which has some of the rows, and notes which are `rounded`. Throws InputError. Local.
  void read(table::Table& table, RoundedWholes& rounded, int n_threads) const {
    const table::RowRange wanted = {chosen_.begin + table.rows().begin, chosen_.begin + table.rows().end};
    const auto place = [&](const IdxFile::Piece& piece) {
      return static_cast<std::size_t>(piece.rows.begin - wanted.begin);
    };
    file_->read(
        wanted, [&](const IdxFile::Piece& piece) { fill(piece.values, table, {place(piece)}, rounded); }, n_threads);
    if (!labels_) return;
    const auto take = [&](const IdxFile::Piece& piece) {
      table::fill_column(piece.values, labels_->name(), table.label().subspan(place(piece), piece.values.n_rows), 1,
                         piece.rows.begin);
    };
    labels_->read(wanted, take, n_threads);
  }

  void check_unchanged() const {
    file_->check_unchanged();
    if (labels_) labels_->check_unchanged();
  }

 private:
  void open_labels(const std::string& location) {
    labels_.emplace(location);
    if (labels_->n_dimensions() != 1) {
      throw_input_error("{}: byte 3: labels have one dimension, these have {}", labels_->name(),
                        labels_->n_dimensions());
    }
    if (labels_->n_rows() != file_->n_rows()) {
      throw_input_error("{}: there are {} rows, and {} labels in {}", file_->name(), file_->n_rows(), labels_->n_rows(),
                        labels_->name());
    }
    schema_.label = "label";
  }

  void choose_columns(const std::vector<std::string>& columns) {
    for (const std::string& column : columns) {
      places_.push_back(find_feature(*file_, column));
      if (std::ranges::count(columns, column) > 1) {
        throw_input_error("{}: feature {} is asked for twice", file_->name(), printable(column));
      }
    }
    schema_.features = columns;
    for (std::uint64_t j = 0; columns.empty() && j < file_->values_per_row(); ++j) {
      schema_.features.push_back(feature_name(*file_, j));
    }
  }

  void fill(const table::StridedMatrix& values, table::Table& table, table::LocalRow first_row,
            RoundedWholes& rounded) const {
    const auto fill_and_note = [&](const table::StridedMatrix& from, std::size_t first_column) {
      fill_features(from, file_->name(), table, first_row, first_column, 1);
      note_rounded(from, table, first_row, first_column, rounded);
    };
    if (places_.empty()) return fill_and_note(values, 0);
    for (std::size_t j = 0; j < places_.size(); ++j) {
      table::StridedMatrix column = values;
      column.begin += static_cast<std::ptrdiff_t>(places_[j]) * values.column_stride;
      column.n_columns = 1;
      fill_and_note(column, j);
    }
  }

  std::optional<IdxFile> file_;
  std::optional<IdxFile> labels_;
  table::Schema schema_;
  std::vector<std::size_t> places_;  // in a row, of each feature; empty: all of them
  table::RowRange chosen_;           // of the file, that become the table
  table::RowRange rows_;             // of the table, that this rank holds
};

/// `text` with the last `from` as `to`; unchanged if there is none.
std::string with_last(std::string text, std::string_view from, std::string_view to) {
  const auto place = text.rfind(from);
  return place == std::string::npos ? text : text.replace(place, from.size(), to);
}

}  // namespace

table::Table read_idx(const std::string& location, const IdxOptions& options, const comm::Communicator& comm,
                      int n_threads, ReadFacts* facts) {
  const OpenIdx idx(location, options, comm);
  check_room(idx.name(), idx.rows().size(), idx.schema().features.size(), comm);
  std::optional<table::Table> table;
  RoundedWholes rounded(idx.schema().features.size());
  comm.agree([&] {
    table.emplace(idx.schema(), idx.n_global_rows(), idx.rows());
    idx.read(*table, rounded, n_threads);
  });
  if (facts != nullptr) facts->rounded = rounded.join(table->schema().features, comm);
  return std::move(*table);
}

std::unique_ptr<table::RowSource> open_idx(const std::string& location, const IdxOptions& options,
                                           const comm::Communicator& comm, int n_threads, std::size_t window_bytes,
                                           ReadFacts* facts) {
  const auto idx = std::make_shared<OpenIdx>(location, options, comm);
  const auto rounded = std::make_shared<RoundedWholes>(idx->schema().features.size());
  const auto read = [idx, rounded, n_threads](table::Table& window) {
    idx->read(window, *rounded, n_threads);
    idx->check_unchanged();
  };
  std::unique_ptr<table::RowSource> rows;
  comm.agree([&] {
    rows = std::make_unique<table::ReadRows>(idx->schema(), idx->n_global_rows(), idx->rows(), read, window_bytes);
  });
  if (facts != nullptr) facts->rounded = rounded->join(idx->schema().features, comm);
  return rows;
}

std::vector<std::filesystem::path> label_files_of(const std::filesystem::path& path) {
  const std::string images = path.filename().string();
  std::string name = with_last(images, "images", "labels");
  if (name == images) return {};
  name = with_last(std::move(name), "idx3", "idx1");
  const bool is_packed = name.ends_with(".gz");
  const std::string other = is_packed ? name.substr(0, name.size() - 3) : name + ".gz";
  return {path.parent_path() / name, path.parent_path() / other};
}

}  // namespace podere::io
