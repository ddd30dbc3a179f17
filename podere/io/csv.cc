#include "podere/io/csv.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/io/csv_categories.h"
#include "podere/io/csv_layout.h"
#include "podere/io/csv_row.h"
#include "podere/io/row_tile.h"
#include "podere/io/text_file.h"
#include "podere/table/features.h"

namespace podere::io {
namespace {

/// Those of the rows of the file, with its header, that become the table.
table::RowRange choose_csv_rows(const std::string& name, const CsvOptions& options, bool has_header,
                                std::uint64_t n_all) {
  const std::uint64_t n_header = has_header ? 1 : 0;
  const std::uint64_t n_rows = n_all - n_header;
  if (n_rows == 0) {
    throw_input_error("{}: has a header but no rows{}", name,
                      options.header ? "" : "; if its first line is a row, choose --no-header");
  }
  const table::RowRange rows = choose_rows(name, options.rows, n_rows);
  return {rows.begin + n_header, rows.end + n_header};
}

/// A file that was found fit to be read: where its rows begin, and which of them this rank holds.
struct OpenCsv {
  /// Collective. Throws InputError on all ranks.
  OpenCsv(const std::string& location, const CsvOptions& options, const comm::Communicator& comm, int n_threads)
      : missing(options.missing) {
    comm.agree([&] {
      text.emplace(location, options.max_line_bytes);
      layout = find_layout(*text->source, text->name, options);
      text->text_begin = layout.text_begin;
    });
    text->find_rows(layout.rules, options.chunk_bytes, comm, n_threads);
    chosen = choose_csv_rows(text->name, options, layout.has_header, text->index.n_rows);
    rows = table::rows_of(chosen.size(), comm.rank(), comm.size());
  }

  const std::string& name() const { return text->name; }

  /// Sets the values of `table`, which has some of the rows. Throws TextFileFault for the first that cannot be read.
  /// Local.
  void read(table::Table& table, Categories& categories, int n_threads) const {
    const auto make_reader = [&] {
      return std::make_unique<RowReader<RowParser>>(RowParser(layout, missing, categories, texts), table);
    };
    text->read({chosen.begin + table.rows().begin, chosen.begin + table.rows().end}, make_reader, n_threads);
  }

  TextCounts* texts = nullptr;  // where texts among numbers are counted; null: they are faults
  MissingTokens missing;
  std::optional<TextFile> text;
  CsvLayout layout;
  table::RowRange chosen;  // of the file, its header included, that become the table
  table::RowRange rows;    // of the table, that this rank holds
};

/// How an option names a column: by name, or by position where the option could not take the name apart.
std::string option_text(const CsvLayout& layout, std::size_t field) {
  const std::string& name = layout.names[field];
  const auto is_plain = [](unsigned char c) {
    return c > 0x20 && c != 0x7f &&
           std::string_view(",'\"\\$`;&|<>()").find(static_cast<char>(c)) == std::string_view::npos;
  };
  const bool is_once = std::ranges::count(layout.names, name) == 1;
  const bool is_a_name = is_once && std::ranges::all_of(name, is_plain) && !name.starts_with('-');
  return is_a_name ? name : std::to_string(field);
}

/// Whether a column is called as labels are, and no label is chosen.
bool may_be_label(const CsvLayout& layout, std::size_t field) {
  if (layout.schema.label && layout.label_choice == LabelChoice::kOption) return false;
  return std::ranges::binary_search(usual_labels(layout.names), field);
}

/// What to do about numbers such as 1,5.
std::string advice_on_decimal_commas(char delimiter) {
  return fmt::format("; numbers with a decimal comma need a point{}",
                     delimiter == ',' ? "" : ": tr , . <OLD >NEW writes them so");
}

/// About a label of numbers that has texts further down.
std::string advice_on_label(const CsvLayout& layout, std::size_t field) {
  if (layout.names.size() == 1) return "";  // most likely delimited by something else
  if (!layout.finds_categories) return "; the model learned numbers: name a text for missing values with --missing";
  return fmt::format(
      "; the first labels are numbers: name a text for missing values with --missing, take all labels as classes with "
      "--categorical {}, or choose another --label",
      option_text(layout, field));
}

/// All columns that cannot be read as numbers, and what can be done about them. `n_texts`, and how many of them are
/// numbers with a decimal comma [columns of the table].
std::string advice_on_texts(const CsvLayout& layout, const std::vector<std::uint64_t>& n_texts,
                            const std::vector<std::uint64_t>& n_decimal_commas, std::uint64_t n_rows) {
  constexpr std::size_t kMaxNames = 40;
  const table::Schema& schema = layout.schema;
  const bool is_guessed = schema.label && layout.label_choice == LabelChoice::kFirst;
  std::vector<std::string> columns, features, labels;
  std::string advice;
  bool has_decimal_commas = false;
  for (std::size_t k = 0; k < n_texts.size(); ++k) {
    if (n_texts[k] == 0) continue;
    const std::size_t field = layout.fields[k];
    columns.push_back(fmt::format("{} ({} of {} rows)", printable(layout.names[field]), n_texts[k], n_rows));
    if (n_decimal_commas[k] == n_texts[k]) {
      has_decimal_commas = true;
    } else if (k < schema.features.size()) {
      (may_be_label(layout, field) ? labels : features).push_back(option_text(layout, field));
    } else if (k == schema.features.size() && schema.label) {
      if (!is_guessed) advice += advice_on_label(layout, field);
    } else {
      advice += "; weights must be numbers";
    }
  }
  if (!labels.empty()) {
    advice += fmt::format("; {} is called as labels are: choose it with --label", fmt::join(labels, ", "));
  }
  if (is_guessed) advice += "; no label is chosen, so the first column is used: choose one with --label";
  const bool knows_features = !layout.finds_categories && !table::is_made_up(layout.names);
  if (!features.empty() && knows_features) {
    advice = "; these were numbers in training: name a text for missing values with --missing" + advice;
  } else if (!features.empty()) {
    const std::string list = fmt::format("{}", fmt::join(features, ","));
    advice = fmt::format(
                 "; leave out with --drop {}, take texts as categories with --categorical {}, or name a "
                 "text for missing values with --missing",
                 list, list) +
             advice;
  }
  if (has_decimal_commas) advice = advice_on_decimal_commas(layout.delimiter) + advice;
  const std::size_t n_more = columns.size() > kMaxNames ? columns.size() - kMaxNames : 0;
  columns.resize(columns.size() - n_more);
  return fmt::format("; not numbers: {}{}{}", fmt::join(columns, ", "),
                     n_more > 0 ? fmt::format(" and {} columns more", n_more) : "", advice);
}

/// Runs `read`, which goes through the rows by `csv`. Throws InputError, on all ranks, for rows that do not split, or,
/// unless they are counted, for texts among numbers: the first in the file, and all columns that hold any. Collective.
void read_or_refuse(OpenCsv& csv, const comm::Communicator& comm, bool counts_texts, ReadFacts& facts,
                    const std::function<void()>& read) {
  TextCounts texts(csv.layout.fields.size());
  csv.texts = &texts;
  const auto fault = find_fault(comm, read);
  csv.texts = nullptr;
  if (counts_texts && fault) throw InputError(*fault);
  const std::vector<std::uint64_t> n_texts = texts.sum(comm);
  const std::vector<std::uint64_t> n_decimal_commas = texts.sum_decimal_commas(comm);
  if (counts_texts) facts.n_texts = n_texts;
  const bool has_texts = std::ranges::any_of(n_texts, [](std::uint64_t n) { return n > 0; });
  if (counts_texts || (!fault && !has_texts)) return;
  const auto first = find_fault(comm, read);
  if (!first) throw_input_error("{}: changed while it was read", csv.name());
  throw InputError(fault ? *first : *first + advice_on_texts(csv.layout, n_texts, n_decimal_commas, csv.chosen.size()));
}

ReadFacts facts_of(const OpenCsv& csv) {
  ReadFacts facts;
  const CsvLayout& layout = csv.layout;
  if (layout.found_header) facts.found_header = layout.has_header;
  for (const auto& column : layout.renamed) facts.renamed.push_back(layout.names[column.position]);
  if (layout.index) facts.left_out.push_back({layout.names[*layout.index], "index"});
  if (!layout.schema.label) return facts;
  const std::size_t n_features = layout.schema.features.size();
  const std::size_t field = layout.fields[n_features];
  facts.label = {
      .position = field,
      .choice = layout.label_choice,
      .option = option_text(layout, field),
      .other = n_features == 0
                   ? ""
                   : option_text(layout, *std::max_element(layout.fields.begin(),
                                                           layout.fields.begin() + static_cast<long>(n_features))),
      .last_may_be = layout.last_may_be_label};
  return facts;
}

}  // namespace

table::Table read_csv(const std::string& location, const CsvOptions& options, const comm::Communicator& comm,
                      int n_threads, ReadFacts* facts) {
  OpenCsv csv(location, options, comm, n_threads);
  ReadFacts found = facts_of(csv);
  Categories categories(csv.layout);
  std::optional<table::Table> table;
  comm.agree([&] { table.emplace(csv.layout.schema, csv.chosen.size(), csv.rows); });
  read_or_refuse(csv, comm, options.counts_texts, found, [&] { csv.read(*table, categories, n_threads); });
  categories.agree_on_codes(csv.name(), options.positive, comm, n_threads, *table);
  found.unknown = categories.sum_unknown(comm);
  if (facts != nullptr) *facts = std::move(found);
  return std::move(*table);
}

std::unique_ptr<table::RowSource> open_csv(const std::string& location, const CsvOptions& options,
                                           const comm::Communicator& comm, int n_threads, std::size_t window_bytes,
                                           ReadFacts* facts) {
  const auto csv = std::make_shared<OpenCsv>(location, options, comm, n_threads);
  ReadFacts found = facts_of(*csv);
  if (csv->layout.finds_categories || csv->layout.finds_classes) {
    Categories categories(csv->layout);
    const auto find = [&](table::Table& window) { csv->read(window, categories, n_threads); };
    read_or_refuse(*csv, comm, options.counts_texts, found,
                   [&] { table::ReadRows(csv->layout.schema, csv->chosen.size(), csv->rows, find, window_bytes); });
    table::Table none(csv->layout.schema, 0, {});
    categories.agree_on_codes(csv->name(), options.positive, comm, n_threads, none);
    csv->layout.schema = none.schema();
    csv->layout.finds_categories = csv->layout.finds_classes = false;
  }
  const auto read = [csv, n_threads](table::Table& window) {
    Categories categories(csv->layout);
    csv->read(window, categories, n_threads);
    csv->text->check_unchanged();
  };
  std::unique_ptr<table::RowSource> rows;
  read_or_refuse(*csv, comm, options.counts_texts, found, [&] {
    rows = std::make_unique<table::ReadRows>(csv->layout.schema, csv->chosen.size(), csv->rows, read, window_bytes);
  });
  if (facts != nullptr) *facts = std::move(found);
  return rows;
}

}  // namespace podere::io
