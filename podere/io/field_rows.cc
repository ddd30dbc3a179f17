#include "podere/io/field_rows.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/io/number_form.h"
#include "podere/io/text_file.h"
#include "podere/io/unlabeled_rows.h"
#include "podere/table/features.h"

namespace podere::io {
namespace {

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
std::string advice_on_texts(const CsvLayout& layout, const std::vector<FoundTexts>& found, std::uint64_t n_rows,
                            const CsvOptions& options) {
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
  if (options.numbers_only) {
    features.insert(features.end(), labels.begin(), labels.end());
    labels.clear();
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
    const std::string as_categories =
        options.numbers_only ? ""
                             : fmt::format(" take texts as categories with --categorical {},",
                                           options.finds_categories ? "auto," + list : list + " (or auto)");
    advice = fmt::format("; leave out with --drop {},{} or name a text for missing values with --missing", list,
                         as_categories) +
             advice;
  }
  const std::size_t n_more = columns.size() > kMaxNames ? columns.size() - kMaxNames : 0;
  columns.resize(columns.size() - n_more);
  return fmt::format("; not numbers: {}{}{}", fmt::join(columns, ", "),
                     n_more > 0 ? fmt::format(" and {} columns more", n_more) : "", advice);
}

/// What was found out about columns while they were read.
void note_columns(const CsvLayout& layout, const std::vector<FoundTexts>& found, const std::vector<float>& steps,
                  const CsvOptions& options, ReadFacts& facts) {
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
  facts.rounded.clear();
  for (std::size_t k = 0; k < steps.size(); ++k) {
    if (steps[k] > 0) facts.rounded.push_back({layout.names[layout.fields[k]], steps[k]});
  }
  if (!options.counts_texts) return;
  facts.columns.clear();
  for (std::size_t k = 0; k < found.size(); ++k) {
    const auto form = layout.forms[k];
    const char* const kind = found[k].n_texts > 0 ? "text" : form ? number_forms()[*form].kind : "number";
    facts.columns.push_back({kind, found[k].n_texts, found[k].n_different, layout.sample_texts[k].examples});
  }
}

/// Throws InputError for the first text or row in the file that is at fault, on all ranks, where there is a row that
/// does not split. What was `found` up to there may say of what form texts are. Collective.
void refuse_first(FieldRows& rows, const comm::Communicator& comm, const CsvOptions& options,
                  const std::vector<FoundTexts>& found, const std::function<void()>& read) {
  try {
    choose_forms(rows.name(), options, found, rows.chosen.size(), rows.layout);
  } catch (const InputError&) {
    // Of a doubt about texts, which is not what is wrong first.
  }
  if (const auto first = find_fault(comm, read)) throw InputError(*first);
  throw_input_error("{}: changed while it was read", rows.name());
}

/// What reading through all rows found.
struct Pass {
  std::optional<std::string> fault;
  std::vector<FoundTexts> found = {};  ///< [fields]
  std::vector<float> steps = {};       ///< as of RoundedWholes
};

/// Runs `read`, which goes through the rows; once more where it had found texts that are numbers of some form,
/// or categories. Throws InputError, on all ranks, for rows that do not split, or, unless they are counted, for texts
/// among numbers: the first in the file, and all columns that hold any. Collective.
void read_or_refuse(FieldRows& rows, const comm::Communicator& comm, const CsvOptions& options, ReadFacts& facts,
                    const std::function<void()>& read) {
  const auto read_and_count = [&] {
    TextCounts texts(rows.layout.fields.size(), options.finds_categories || options.counts_texts);
    RoundedWholes rounded(rows.layout);
    rows.texts = &texts;
    rows.rounded = &rounded;
    Pass pass{.fault = find_fault(comm, read)};
    rows.texts = nullptr;
    rows.rounded = nullptr;
    pass.steps = rounded.join_steps(comm);
    pass.found = texts.join(comm);
    return pass;
  };
  Pass pass = read_and_count();
  const CsvLayout before = rows.layout;
  const std::vector<std::size_t> commas =
      pass.fault ? std::vector<std::size_t>() : commas_in_doubt(options, pass.found, rows.layout);
  if (!commas.empty()) {
    for (const std::size_t k : commas) rows.layout.forms[k] = kDecimalComma;
    const Pass trial = read_and_count();
    rows.layout = before;
    for (const std::size_t k : commas) {
      if (trial.fault || trial.found[k].n_texts > 0) pass.found[k].forms &= ~(std::uint64_t{1} << kDecimalComma);
    }
  }
  const bool are_chosen =
      !pass.fault && choose_forms(rows.name(), options, pass.found, rows.chosen.size(), rows.layout);
  if (are_chosen || !commas.empty()) {  // the values that were read are others
    const Pass at_first = std::exchange(pass, read_and_count());
    if (are_chosen && restore_forms(at_first.found, pass.found, before, rows.layout)) pass = read_and_count();
  }
  const auto& [fault, found, steps] = pass;
  if (fault && !options.counts_texts) refuse_first(rows, comm, options, found, read);
  if (fault) throw InputError(*fault);
  note_columns(rows.layout, found, steps, options, facts);
  const bool has_texts = std::ranges::any_of(found, [](const FoundTexts& column) { return column.n_texts > 0; });
  if (options.counts_texts || !has_texts) return;
  const auto first = find_fault(comm, read);
  if (!first) throw_input_error("{}: changed while it was read", rows.name());
  throw InputError(*first + advice_on_texts(rows.layout, found, rows.chosen.size(), options));
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
        "it out with --drop {}, or name a text for missing values with --missing",
        file, printable(name), texts->size(), name, name);
  }
}

ReadFacts facts_of(const FieldRows& rows) {
  ReadFacts facts;
  const CsvLayout& layout = rows.layout;
  facts.n_files = rows.n_files;
  facts.folder_columns = rows.folder_columns;
  facts.notes = rows.notes;
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

table::Table read_fields(FieldRows& rows, const CsvOptions& options, const comm::Communicator& comm, int n_threads,
                         ReadFacts* facts) {
  ReadFacts found = facts_of(rows);
  std::optional<Categories> categories;
  std::optional<table::Table> table;
  read_or_refuse(rows, comm, options, found, [&] {
    categories.emplace(rows.layout);
    if (!table || table->schema() != rows.layout.schema) {
      table.emplace(rows.layout.schema, rows.chosen.size(), rows.rows);
    }
    rows.read(*table, *categories, n_threads);
  });
  categories->agree_on_codes(rows.name(), options.positive, comm, n_threads, *table);
  check_found_categories(rows.name(), rows.layout.found_categories, table->schema());
  found.unknown = categories->sum_unknown(comm);
  if (options.drop_unlabeled) drop_unlabeled(rows.name(), comm, n_threads, *table, found.n_unlabeled);
  if (facts != nullptr) *facts = std::move(found);
  return std::move(*table);
}

std::unique_ptr<table::RowSource> open_fields(const std::shared_ptr<FieldRows>& rows, const CsvOptions& options,
                                              const comm::Communicator& comm, int n_threads, std::size_t window_bytes,
                                              ReadFacts* facts) {
  ReadFacts found = facts_of(*rows);
  CsvLayout& layout = rows->layout;
  if (layout.finds_categories || layout.finds_classes) {
    std::optional<Categories> categories;
    const auto find = [&](table::Table& window) { rows->read(window, *categories, n_threads); };
    read_or_refuse(*rows, comm, options, found, [&] {
      categories.emplace(layout);
      table::ReadRows(layout.schema, rows->chosen.size(), rows->rows, find, window_bytes);
    });
    table::Table none(layout.schema, 0, {});
    categories->agree_on_codes(rows->name(), options.positive, comm, n_threads, none);
    check_found_categories(rows->name(), layout.found_categories, none.schema());
    layout.schema = none.schema();
    layout.finds_categories = layout.finds_classes = false;
  }
  const auto read = [rows, n_threads](table::Table& window) {
    Categories categories(rows->layout);
    rows->read(window, categories, n_threads);
    rows->check_unchanged();
  };
  std::unique_ptr<table::RowSource> source;
  read_or_refuse(*rows, comm, options, found, [&] {
    source = std::make_unique<table::ReadRows>(layout.schema, rows->chosen.size(), rows->rows, read, window_bytes);
  });
  if (options.drop_unlabeled) {
    source = open_labeled(rows->name(), std::move(source), read, comm, window_bytes, found.n_unlabeled);
  }
  if (facts != nullptr) *facts = std::move(found);
  return source;
}

}  // namespace podere::io
