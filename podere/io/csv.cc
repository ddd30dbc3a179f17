#include "podere/io/csv.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/parallel.h"
#include "podere/base/printable.h"
#include "podere/io/csv_row.h"
#include "podere/io/field_rows.h"
#include "podere/io/file_list.h"
#include "podere/io/row_tile.h"
#include "podere/io/text_file.h"

namespace podere::io {
namespace {

/// Delimited text of one file, or of several with the same columns one after another.
class CsvRows final : public FieldRows {
 public:
  /// Collective. Throws InputError on all ranks.
  CsvRows(const std::string& location, const CsvOptions& options, const comm::Communicator& comm, int n_threads)
      : FieldRows(options), name_(location) {
    comm.agree([&] {
      std::vector<ListedFile> files = list_files(location);
      const bool are_many = files.size() > 1;
      allow_open_files(location, files.size());
      for (const auto& [folder, value] : files.front().values) folder_columns.push_back(folder);
      for (ListedFile& file : files) {
        if (!are_many || !is_empty(file.path)) add(std::move(file), options);
      }
      if (parts_.empty()) throw_input_error("{}: all files are empty", location);
    });
    n_files = parts_.size();
    std::uint64_t n_rows = 0;
    for (Part& part : parts_) {
      part.text.find_rows(layout.rules, options.chunk_bytes, comm, n_threads);
      part.first_row = n_rows;
      n_rows += part.text.index.n_rows - std::min(part.text.index.n_rows, n_header_rows());
    }
    if (n_rows == 0) {
      throw_input_error("{}: has a header but no rows{}", name_,
                        options.header ? "" : "; if its first line is a row, choose --no-header");
    }
    chosen = choose_rows(name_, options.rows, n_rows);
    rows = table::rows_of(chosen.size(), comm.rank(), comm.size());
  }

  const std::string& name() const override { return name_; }

  void read(table::Table& table, Categories& categories, int n_threads) const override {
    const table::RowRange wanted = {chosen.begin + table.rows().begin, chosen.begin + table.rows().end};
    const auto read_part = [&](std::size_t i, int n_threads_of_part) {
      const Part& part = parts_[i];
      const std::uint64_t end = i + 1 < parts_.size() ? parts_[i + 1].first_row : wanted.end;
      const table::RowRange own = {std::max(part.first_row, wanted.begin), std::min(end, wanted.end)};
      if (own.begin >= own.end) return;
      const auto make_reader = [&] {
        return std::make_unique<RowReader<RowParser>>(
            RowParser(layout, part.folders, missing, categories, texts, rounded), table,
            static_cast<std::size_t>(own.begin - wanted.begin));
      };
      const std::uint64_t shift = n_header_rows() - part.first_row;
      part.text.read({own.begin + shift, own.end + shift}, make_reader, n_threads_of_part);
    };
    if (parts_.size() < kManyParts) {
      for (std::size_t i = 0; i < parts_.size(); ++i) read_part(i, n_threads);
    } else {
      parallel_for(n_threads, parts_.size(), [&](std::size_t i, int) { read_part(i, 1); });
    }
  }

  void check_unchanged() const override {
    for (const Part& part : parts_) part.text.check_unchanged();
  }

 private:
  static constexpr std::size_t kManyParts = 64;  ///< that threads share, rather than the chunks of each

  struct Part {
    TextFile text;
    FolderValues folders;
    std::uint64_t first_row = 0;  // of the rows of all parts
  };

  std::uint64_t n_header_rows() const { return layout.has_header ? 1 : 0; }

  /// As Spark writes the parts without rows.
  static bool is_empty(const std::string& path) {
    std::error_code unknown;
    return std::filesystem::file_size(path, unknown) == 0;
  }

  /// Opens a file. Throws InputError if it is not read as the first is.
  void add(ListedFile listed, const CsvOptions& options) {
    Part part{TextFile(listed.path, options.max_line_bytes), std::move(listed.values)};
    CsvOptions same = options;
    if (!parts_.empty()) {
      same.delimiter = layout.delimiter;
      same.header = layout.has_header;
    }
    CsvLayout own = find_layout(*part.text.source, part.text.name, same, part.folders);
    part.text.text_begin = own.text_begin;
    if (!parts_.empty() && (own.names != layout.names || own.index != layout.index)) refuse(part.text.name, own.names);
    if (parts_.empty() || (!layout.saw_rows && own.saw_rows)) {
      const bool found_header = parts_.empty() ? own.found_header : layout.found_header;
      layout = std::move(own);
      layout.found_header = found_header;
    }
    parts_.push_back(std::move(part));
  }

  [[noreturn]] void refuse(const std::string& file, const std::vector<std::string>& names) const {
    const auto list = [](const std::vector<std::string>& all) {
      constexpr std::size_t kMost = 40;
      std::vector<std::string> listed;
      for (const std::string& name : all) listed.push_back(printable(name));
      const bool is_long = listed.size() > kMost;
      if (is_long) listed.resize(kMost);
      return fmt::format("{}{}", fmt::join(listed, ", "), is_long ? ", ..." : "");
    };
    throw_input_error("{}: has not the columns of {}: it has {}, not {}; read files with other columns by themselves",
                      file, parts_.front().text.name, list(names), list(layout.names));
  }

  std::string name_;
  std::vector<Part> parts_;
};

}  // namespace

table::Table read_csv(const std::string& location, const CsvOptions& options, const comm::Communicator& comm,
                      int n_threads, ReadFacts* facts) {
  CsvRows rows(location, options, comm, n_threads);
  return read_fields(rows, options, comm, n_threads, facts);
}

std::unique_ptr<table::RowSource> open_csv(const std::string& location, const CsvOptions& options,
                                           const comm::Communicator& comm, int n_threads, std::size_t window_bytes,
                                           ReadFacts* facts) {
  const auto rows = std::make_shared<CsvRows>(location, options, comm, n_threads);
  return open_fields(rows, options, comm, n_threads, window_bytes, facts);
}

}  // namespace podere::io
