#include "podere/io/libsvm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/number.h"
#include "podere/base/printable.h"
#include "podere/io/libsvm_row.h"
#include "podere/io/memory_room.h"
#include "podere/io/row_tile.h"
#include "podere/io/text_file.h"
#include "podere/table/features.h"

namespace podere::io {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// Finds the largest index, in one thread, and sends it to all ranks.
class IndexReader final : public LineReader {
 public:
  explicit IndexReader(std::atomic<std::int64_t>& largest) : largest_of_all_(largest) {}

  void start_at(std::size_t) override {}
  const char* read(const char* p, const char* end) override {
    const char* next = nullptr;
    if (const auto index = last_index(p, end, next)) largest_ = std::max(largest_, static_cast<std::int64_t>(*index));
    return next;
  }
  void finish() override {
    std::int64_t known = largest_of_all_;
    while (known < largest_ && !largest_of_all_.compare_exchange_weak(known, largest_)) {
    }
  }

 private:
  std::int64_t largest_ = -1;
  std::atomic<std::int64_t>& largest_of_all_;
};

/// The number of a feature called f7, or nothing.
std::optional<std::uint64_t> number_in(const std::string& name) {
  const auto number = name.starts_with('f') ? parse_count(std::string_view(name).substr(1)) : std::nullopt;
  return number && name == fmt::format("f{}", *number) ? number : std::nullopt;
}

/// How many features must be there for all of `applied` to be found.
std::uint64_t count_applied(const table::Schema& applied, std::uint64_t first_index) {
  // By their names here; other names are matched by order.
  if (!table::is_made_up(applied.features) || !applied.label) return applied.features.size();
  std::uint64_t n = 0;
  for (const std::string& name : applied.features) {
    const auto number = number_in(name);
    if (number && *number >= first_index && *number <= kMostFeatures) n = std::max(n, *number + 1 - first_index);
  }
  return n;
}

/// A file that was found fit to be read: where its rows begin, which columns they have, and which of them this rank
/// holds.
class OpenLibsvm {
 public:
  /// Collective. Throws InputError on all ranks.
  OpenLibsvm(const std::string& location, const LibsvmOptions& options, const comm::Communicator& comm, int n_threads)
      : missing_(options.missing) {
    layout_.first_index = options.zero_based ? 0 : 1;
    comm.agree([&] {
      text_.emplace(location, options.max_line_bytes);
      std::array<char, kByteOrderMark.size()> begin{};
      text_->source->cursor_at(0)->read(begin);
      if (std::string_view(begin.data(), begin.size()) == kByteOrderMark) text_->text_begin = begin.size();
    });
    text_->find_rows({.has_quotes = false, .comment = '#'}, options.chunk_bytes, comm, n_threads);
    const std::uint64_t n_rows = text_->index.n_rows;
    if (n_rows == 0) throw_input_error("{}: has no rows", text_->name);
    chosen_ = choose_rows(text_->name, options.rows, n_rows);
    rows_ = table::rows_of(chosen_.size(), comm.rank(), comm.size());
    const std::uint64_t n_features = count_features(options, {0, n_rows}, comm, n_threads);
    comm.agree([&] { choose_columns(options.columns, n_features); });
  }

  const std::string& name() const { return text_->name; }
  const table::Schema& schema() const { return schema_; }
  std::uint64_t n_global_rows() const { return chosen_.size(); }
  table::RowRange rows() const { return rows_; }

  /// Sets the values of `table`, which has some of the rows, and notes which are `rounded`. Throws TextFileFault for
  /// the first that cannot be read. Local.
  void read(table::Table& table, RoundedWholes& rounded, int n_threads) const {
    const auto make_reader = [&] {
      return std::make_unique<RowReader<LibsvmParser>>(LibsvmParser(layout_, missing_, rounded), table);
    };
    text_->read({chosen_.begin + table.rows().begin, chosen_.begin + table.rows().end}, make_reader, n_threads);
  }

  void check_unchanged() const { text_->check_unchanged(); }

 private:
  /// Collective.
  std::uint64_t count_features(const LibsvmOptions& options, table::RowRange all, const comm::Communicator& comm,
                               int n_threads) const {
    const std::uint64_t n_applied = options.applied ? count_applied(*options.applied, layout_.first_index) : 0;
    std::uint64_t n_found = options.n_features.value_or(0);
    if (n_found > kMostFeatures) {
      throw_input_error("{}: {} features are asked for; a table can have {}", name(), n_found, kMostFeatures);
    }
    if (options.n_features && n_found < n_applied) {
      throw_input_error("{}: {} features are asked for, the model has {}", name(), n_found, n_applied);
    }
    if (!options.n_features) n_found = find_features(all, comm, n_threads);
    if (n_found == 0 && n_applied == 0) throw_input_error("{}: has no features: there is no index:value", name());
    return std::max(n_found, n_applied);
  }

  /// How many the largest index asks for: of all rows of the file, so that it does not depend on those that are chosen.
  std::uint64_t find_features(table::RowRange all, const comm::Communicator& comm, int n_threads) const {
    const table::RowRange mine = table::rows_of(all.size(), comm.rank(), comm.size());
    std::atomic<std::int64_t> largest_here = -1;
    agree_on_fault(comm, [&] {
      text_->read(
          {all.begin + mine.begin, all.begin + mine.end}, [&] { return std::make_unique<IndexReader>(largest_here); },
          n_threads);
    });
    const std::int64_t largest = comm.all_reduce(largest_here.load(), comm::Reduction::kMax);
    if (largest <= 0) return largest == 0 ? 1 : 0;  // a 0 that should not be there is reported when its row is read
    return static_cast<std::uint64_t>(largest) + 1 - layout_.first_index;
  }

  void choose_columns(const std::vector<std::string>& columns, std::uint64_t n_features) {
    schema_.label = "label";
    layout_.n_features = columns.empty() ? n_features : columns.size();
    layout_.columns.assign(n_features, LibsvmLayout::kSkipped);
    schema_.features = columns;
    for (std::size_t j = 0; j < columns.size(); ++j) {
      std::uint32_t& column = layout_.columns[find_feature(columns[j], n_features)];
      if (column != LibsvmLayout::kSkipped) {
        throw_input_error("{}: feature {} is asked for twice", name(), printable(columns[j]));
      }
      column = static_cast<std::uint32_t>(j);
    }
    for (std::uint64_t i = 0; columns.empty() && i < n_features; ++i) {
      schema_.features.push_back(fmt::format("f{}", i + layout_.first_index));
      layout_.columns[i] = static_cast<std::uint32_t>(i);
    }
  }

  std::uint64_t find_feature(const std::string& column, std::uint64_t n_features) const {
    const auto number = number_in(column);
    if (number && *number >= layout_.first_index && *number - layout_.first_index < n_features) {
      return *number - layout_.first_index;
    }
    throw_input_error("{}: there is no feature {}; there are f{} to f{}", name(), printable(column),
                      layout_.first_index, n_features + layout_.first_index - 1);
  }

  MissingTokens missing_;
  std::optional<TextFile> text_;
  LibsvmLayout layout_;
  table::Schema schema_;
  table::RowRange chosen_;  // of the file, that become the table
  table::RowRange rows_;    // of the table, that this rank holds
};

}  // namespace

table::Table read_libsvm(const std::string& location, const LibsvmOptions& options, const comm::Communicator& comm,
                         int n_threads, ReadFacts* facts) {
  const OpenLibsvm libsvm(location, options, comm, n_threads);
  check_room(libsvm.name(), libsvm.rows().size(), libsvm.schema().features.size(), comm);
  std::optional<table::Table> table;
  RoundedWholes rounded(libsvm.schema().features.size());
  agree_on_fault(comm, [&] {
    table.emplace(libsvm.schema(), libsvm.n_global_rows(), libsvm.rows());
    libsvm.read(*table, rounded, n_threads);
  });
  if (facts != nullptr) facts->rounded = rounded.join(table->schema().features, comm);
  return std::move(*table);
}

std::unique_ptr<table::RowSource> open_libsvm(const std::string& location, const LibsvmOptions& options,
                                              const comm::Communicator& comm, int n_threads, std::size_t window_bytes,
                                              ReadFacts* facts) {
  const auto libsvm = std::make_shared<OpenLibsvm>(location, options, comm, n_threads);
  check_room(libsvm->name(), std::min(libsvm->rows().size(), table::kBlockRows), libsvm->schema().features.size(),
             comm);
  const auto rounded = std::make_shared<RoundedWholes>(libsvm->schema().features.size());
  const auto read = [libsvm, rounded, n_threads](table::Table& window) {
    libsvm->read(window, *rounded, n_threads);
    libsvm->check_unchanged();
  };
  std::unique_ptr<table::RowSource> rows;
  agree_on_fault(comm, [&] {
    rows = std::make_unique<table::ReadRows>(libsvm->schema(), libsvm->n_global_rows(), libsvm->rows(), read,
                                             window_bytes);
  });
  if (facts != nullptr) facts->rounded = rounded->join(libsvm->schema().features, comm);
  return rows;
}

}  // namespace podere::io
