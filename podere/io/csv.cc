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
#include "podere/io/column_forms.h"
#include "podere/io/csv_categories.h"
#include "podere/io/csv_layout.h"
#include "podere/io/csv_row.h"
#include "podere/io/number_form.h"
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

/// About a label of numbers that has texts further down.
std::string advice_on_label(const CsvLayout& layout, std::size_t field) {
  if (layout.names.size() == 1) return "";  // most likely delimited by something else
  if (!layout.finds_categories) return "; the model learned numbers: name a text for missing values with --missing";
  return fmt::format(
      "; the first labels are numbers: name a text for missing values with --missing, take all labels as classes with "
      "--categorical {}, or choose another --label",
      option_text(layout, field));
}

/// All columns that cannot be read as numbers, and what can be done about them [columns of the table].
std::string advice_on_texts(const CsvLayout& layout, const std::vector<FoundTexts>& found, std::uint64_t n_rows) {
  constexpr std::size_t kMaxNames = 40;
  const table::Schema& schema = layout.schema;
  const bool is_guessed = schema.label && layout.label_choice == LabelChoice::kFirst;
  std::vector<std::string> columns, features, labels;
  std::string advice;
  for (std::size_t k = 0; k < found.size(); ++k) {
    if (found[k].n_texts == 0) continue;
    const std::size_t field = layout.fields[k];
    columns.push_back(fmt::format("{} ({} of {} rows)", printable(layout.names[field]), found[k].n_texts, n_rows));
    if (k < schema.features.size()) {
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
                 "; leave out with --drop {}, take texts as categories with --categorical {} (or auto), or name a "
                 "text for missing values with --missing",
                 list, list) +
             advice;
  }
  const std::size_t n_more = columns.size() > kMaxNames ? columns.size() - kMaxNames : 0;
  columns.resize(columns.size() - n_more);
  return fmt::format("; not numbers: {}{}{}", fmt::join(columns, ", "),
                     n_more > 0 ? fmt::format(" and {} columns more", n_more) : "", advice);
}

/// What was found out about columns while they were read.
void note_columns(const CsvLayout& layout, const std::vector<FoundTexts>& found, const CsvOptions& options,
                  ReadFacts& facts) {
  facts.left_out.assign(layout.left_out.begin(), layout.left_out.end());
  if (layout.index) facts.left_out.insert(facts.left_out.begin(), {layout.names[*layout.index], "index"});
  facts.categories = layout.found_categories;
  facts.doubts = layout.doubts;
  facts.read_as.clear();
  for (std::size_t k = 0; k < layout.forms.size(); ++k) {
    if (layout.date_parts[k] != DatePart::kNone) continue;
    if (!layout.forms[k] || layout.forms[k] == (options.decimal == ',' ? std::optional(kDecimalComma) : std::nullopt))
      continue;
    const NumberForm& form = number_forms()[*layout.forms[k]];
    facts.read_as.push_back({layout.names[layout.fields[k]], form.name, form.meaning});
  }
  if (!options.counts_texts) return;
  facts.columns.clear();
  for (std::size_t k = 0; k < found.size(); ++k) {
    const auto form = layout.forms[k];
    const char* const kind = found[k].n_texts > 0 ? "text" : form ? number_forms()[*form].kind : "number";
    facts.columns.push_back({kind, found[k].n_texts, found[k].n_different, layout.sample_texts[k].examples});
  }
}

/// Runs `read`, which goes through the rows by `csv`; once more where it had found texts that are numbers of some form,
/// or categories. Throws InputError, on all ranks, for rows that do not split, or, unless they are counted, for texts
/// among numbers: the first in the file, and all columns that hold any. Collective.
void read_or_refuse(OpenCsv& csv, const comm::Communicator& comm, const CsvOptions& options, ReadFacts& facts,
                    const std::function<void()>& read) {
  std::optional<std::string> fault;
  const auto read_and_count = [&] {
    TextCounts texts(csv.layout.fields.size(), options.finds_categories || options.counts_texts);
    csv.texts = &texts;
    fault = find_fault(comm, read);
    csv.texts = nullptr;
    return texts.join(comm);
  };
  std::vector<FoundTexts> found = read_and_count();
  const CsvLayout before = csv.layout;
  if (!fault && choose_forms(csv.name(), options, found, csv.chosen.size(), csv.layout)) {
    const std::vector<FoundTexts> at_first = std::exchange(found, read_and_count());
    if (restore_forms(at_first, found, before, csv.layout)) found = read_and_count();
  }
  if (options.counts_texts && fault) throw InputError(*fault);
  note_columns(csv.layout, found, options, facts);
  const bool has_texts = std::ranges::any_of(found, [](const FoundTexts& column) { return column.n_texts > 0; });
  if (options.counts_texts || (!fault && !has_texts)) return;
  const auto first = find_fault(comm, read);
  if (!first) throw_input_error("{}: changed while it was read", csv.name());
  throw InputError(fault ? *first : *first + advice_on_texts(csv.layout, found, csv.chosen.size()));
}

/// Throws InputError where a feature that was taken for categories has more of them than were counted, numbers among
/// them.
void check_found_categories(const std::string& file, const std::vector<std::string>& found,
                            const table::Schema& schema) {
  for (const auto& [feature, texts] : schema.categories) {
    const std::string& name = schema.features[feature];
    if (!texts || texts->size() <= 2 * kMostFoundCategories || std::ranges::find(found, name) == found.end()) continue;
    throw_input_error(
        "{}: column {} holds texts and numbers, {} that differ: take them as categories with --categorical {}, leave "
        "it "
        "out with --drop {}, or name a text for missing values with --missing",
        file, printable(name), texts->size(), name, name);
  }
}

ReadFacts facts_of(const OpenCsv& csv) {
  ReadFacts facts;
  const CsvLayout& layout = csv.layout;
  if (layout.found_header) facts.found_header = layout.has_header;
  for (const auto& column : layout.renamed) facts.renamed.push_back(layout.names[column.position]);
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
  std::optional<Categories> categories;
  std::optional<table::Table> table;
  read_or_refuse(csv, comm, options, found, [&] {
    categories.emplace(csv.layout);
    if (!table || table->schema() != csv.layout.schema) table.emplace(csv.layout.schema, csv.chosen.size(), csv.rows);
    csv.read(*table, *categories, n_threads);
  });
  categories->agree_on_codes(csv.name(), options.positive, comm, n_threads, *table);
  check_found_categories(csv.name(), csv.layout.found_categories, table->schema());
  found.unknown = categories->sum_unknown(comm);
  if (facts != nullptr) *facts = std::move(found);
  return std::move(*table);
}

std::unique_ptr<table::RowSource> open_csv(const std::string& location, const CsvOptions& options,
                                           const comm::Communicator& comm, int n_threads, std::size_t window_bytes,
                                           ReadFacts* facts) {
  const auto csv = std::make_shared<OpenCsv>(location, options, comm, n_threads);
  ReadFacts found = facts_of(*csv);
  if (csv->layout.finds_categories || csv->layout.finds_classes) {
    std::optional<Categories> categories;
    const auto find = [&](table::Table& window) { csv->read(window, *categories, n_threads); };
    read_or_refuse(*csv, comm, options, found, [&] {
      categories.emplace(csv->layout);
      table::ReadRows(csv->layout.schema, csv->chosen.size(), csv->rows, find, window_bytes);
    });
    table::Table none(csv->layout.schema, 0, {});
    categories->agree_on_codes(csv->name(), options.positive, comm, n_threads, none);
    check_found_categories(csv->name(), csv->layout.found_categories, none.schema());
    csv->layout.schema = none.schema();
    csv->layout.finds_categories = csv->layout.finds_classes = false;
  }
  const auto read = [csv, n_threads](table::Table& window) {
    Categories categories(csv->layout);
    csv->read(window, categories, n_threads);
    csv->text->check_unchanged();
  };
  std::unique_ptr<table::RowSource> rows;
  read_or_refuse(*csv, comm, options, found, [&] {
    rows = std::make_unique<table::ReadRows>(csv->layout.schema, csv->chosen.size(), csv->rows, read, window_bytes);
  });
  if (facts != nullptr) *facts = std::move(found);
  return rows;
}

}  // namespace podere::io
