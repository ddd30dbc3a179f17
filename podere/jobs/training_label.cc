#include "podere/jobs/training_label.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/jobs/kept_tables.h"
#include "podere/source/readers.h"
#include "podere/table/labels.h"

namespace podere::jobs {
namespace {

constexpr int kMostClasses = 1000;
constexpr std::size_t kFewClasses = 20;  // up to so many different whole numbers are taken for classes
constexpr std::uint64_t kFewRows = 3;    // may all be different

/// Without what is missing.
struct LabelRange {
  float min = std::numeric_limits<float>::infinity();
  float max = -std::numeric_limits<float>::infinity();
  bool are_whole = true;
  bool has_missing = false;
};

LabelRange label_range(const table::Table& table, const comm::Communicator& comm) {
  LabelRange range;
  for (const float label : table.label()) {
    range.has_missing = range.has_missing || std::isnan(label);
    if (std::isnan(label)) continue;
    range.min = std::min(range.min, label);
    range.max = std::max(range.max, label);
    range.are_whole = range.are_whole && label == std::floor(label);
  }
  return {comm.all_reduce(range.min, comm::Reduction::kMin), comm.all_reduce(range.max, comm::Reduction::kMax),
          comm.all_reduce(range.are_whole ? 1 : 0, comm::Reduction::kMin) != 0,
          comm.all_reduce(range.has_missing ? 1 : 0, comm::Reduction::kMax) != 0};
}

bool are_classes(table::LabelKind kind) {
  return kind == table::LabelKind::kTwoClasses || kind == table::LabelKind::kClasses;
}

const char* kind_text(table::LabelKind kind) {
  switch (kind) {
    case table::LabelKind::kTwoClasses:
      return "two classes";
    case table::LabelKind::kClasses:
      return "classes";
    case table::LabelKind::kCounts:
      return "counts";
    case table::LabelKind::kNumbers:
      return "numbers";
    case table::LabelKind::kNone:
      return "none";
  }
  throw Error("unknown kind of label");
}

const char* choice_text(const source::SourceSpec& source, const std::optional<io::LabelColumn>& column) {
  if (source::kept_name(source.location)) return "table";
  if (!column) return "format";
  switch (column->choice) {
    case io::LabelChoice::kOption:
      return "option";
    case io::LabelChoice::kModel:
      return "model";
    case io::LabelChoice::kName:
      return "name";
    case io::LabelChoice::kLast:
      return "last";
    case io::LabelChoice::kFirst:
      return "first";
  }
  throw Error("unknown choice of a label");
}

/// Why a column can be no label of classes; empty if it may be one, or has a fault that training names by its row.
std::string why_no_classes(const LabelRange& range, const std::optional<std::vector<float>>& values,
                           const table::Table& table, table::LabelKind kind) {
  if (!range.are_whole) return fmt::format("real numbers from {} to {}", range.min, range.max);
  const std::uint64_t n_rows = table.n_global_rows();
  if (n_rows > kFewRows && values && values->size() == n_rows) return "whole numbers that are all different";
  if (range.has_missing) return "";
  const bool are_few = values && values->size() <= (kind == table::LabelKind::kTwoClasses ? kFewClasses : kMostClasses);
  const bool are_two = range.min >= 0 && range.max <= 1;
  if (are_few || are_two) return "";
  return fmt::format("whole numbers from {} to {}", range.min, range.max);
}

bool is_guess_by_place(const std::optional<io::LabelColumn>& column) {
  return column && (column->choice == io::LabelChoice::kFirst || column->choice == io::LabelChoice::kLast);
}

std::string guess_text(const std::string& name, const io::LabelColumn& column) {
  return column.choice == io::LabelChoice::kFirst  ? fmt::format("first column, {},", printable(name))
         : column.choice == io::LabelChoice::kLast ? fmt::format("last column, {},", printable(name))
                                                   : fmt::format("column called {}", printable(name));
}

/// Throws InputError with what to write instead.
[[noreturn]] void refuse_guess(const source::SourceSpec& source, const std::string& name, const io::LabelColumn& column,
                               const LabelWanted& wanted, const LabelRange& range, const std::string& why) {
  const bool would_do = wanted.rules.kind == table::LabelKind::kClasses && range.are_whole;
  throw_input_error("{}: no label is chosen, and the {} holds {}, which {} does not learn: {}--label {}{} {}",
                    source.location, guess_text(name, column), why, wanted.objective,
                    column.other.empty() ? "" : "choose one, such as --label " + column.other + ", or ", column.option,
                    would_do ? "" : " " + wanted.numbers, would_do ? "to insist" : "to predict its numbers");
}

/// Whether beside two values that are repeated a third is in one row alone: most likely a mistake. Of more values some
/// may well be rare. Collective.
bool has_stray_label(const table::Table& table, const std::vector<float>& values, const comm::Communicator& comm) {
  if (values.size() != 3 || table.n_global_rows() <= 2 * values.size()) return false;
  std::vector<std::uint64_t> counts(values.size());
  for (const float label : table.label()) {
    ++counts[static_cast<std::size_t>(std::ranges::lower_bound(values, label) - values.begin())];
  }
  comm.all_reduce(std::span(counts), comm::Reduction::kSum);
  return std::ranges::count(counts, 1U) == 1;
}

/// How rows without a label can be left out. Nothing where Podere cannot do it.
const char* advice_on_unlabeled(const source::SourceSpec& source) {
  if (source.arrays) return "";
  if (source::kept_name(source.location)) {
    return " where they are read, by drop_unlabeled=True; of IDX and libsvm in the file";
  }
  const auto options = source::find_reader(source).options;
  const bool has_option = std::ranges::find(options, "drop_unlabeled") != options.end();
  return has_option ? " with --drop-unlabeled, in Python drop_unlabeled=True" : " in the file";
}

/// As training will.
void check_labels(const table::Table& table, const table::LabelRules& rules, const comm::Communicator& comm) {
  if (rules.kind == table::LabelKind::kClasses && rules.n_classes == 0) {
    table::count_classes(table, kMostClasses, "training", comm);
    return;
  }
  comm.agree([&] {
    for (std::size_t i = 0; i < table.n_rows(); ++i) {
      table::check_label(table.label()[i], table.global({i}), rules, "training");
    }
  });
}

}  // namespace

void check_missing_labels(const source::SourceSpec& source, const table::Table& table,
                          const std::optional<io::LabelColumn>& column, const comm::Communicator& comm) {
  std::uint64_t n_missing = 0, first = table.n_global_rows();
  for (std::size_t i = 0; i < table.label().size(); ++i) {
    if (!std::isnan(table.label()[i])) continue;
    ++n_missing;
    first = std::min(first, table.global({i}).value);
  }
  n_missing = comm.all_reduce(n_missing, comm::Reduction::kSum);
  first = comm.all_reduce(first, comm::Reduction::kMin);
  if (n_missing == 0) return;
  const std::string name = table.schema().label.value_or("");
  throw_input_error(
      "{}: the label {} is missing in {} of {} rows, first in row {} (from 0): leave out such rows{}{}",
      source.location, printable(name), n_missing, table.n_global_rows(), first, advice_on_unlabeled(source),
      is_guess_by_place(column) ? fmt::format("; no label is chosen, so the {} is used: choose another with --label",
                                              guess_text(name, *column))
                                : "");
}

void check_label_guess(const source::SourceSpec& source, const table::Table& table,
                       const std::optional<io::LabelColumn>& column, const LabelWanted& wanted,
                       const comm::Communicator& comm) {
  const bool is_guess =
      column && column->choice != io::LabelChoice::kOption && column->choice != io::LabelChoice::kModel;
  const table::LabelKind kind = wanted.rules.kind;
  if (!is_guess || !are_classes(kind)) return;
  const std::string name = table.schema().label.value_or("");
  if (const std::size_t n = table.schema().classes.size(); n > 0) {
    const bool are_different = n > kFewRows && n == table.n_global_rows();
    const bool is_likely = n <= kFewClasses && !are_different && (n == 2 || !column->last_may_be);
    if (column->choice == io::LabelChoice::kName || is_likely) return;
    throw_input_error(
        "{}: no label is chosen, and the {} holds {} different values: choose {}, or --label {} to insist",
        source.location, guess_text(name, *column), n,
        column->last_may_be ? "one, such as --label " + column->other : "another with --label", column->option);
  }
  const LabelRange range = label_range(table, comm);
  const auto values = table::label_values(table, kMostClasses, comm);
  const bool is_constant = values && values->size() == 1 && column->choice != io::LabelChoice::kName;
  const std::string why =
      is_constant ? fmt::format("{} in all rows", range.min) : why_no_classes(range, values, table, kind);
  if (!why.empty()) refuse_guess(source, name, *column, wanted, range, why);
  try {
    check_labels(table, wanted.rules, comm);
  } catch (const InputError& error) {
    throw_input_error("{}; no label is chosen, so the {} is used: choose another with --label{}", error.what(),
                      guess_text(name, *column), column->last_may_be ? ", such as --label " + column->other : "");
  }
}

void check_guessed_numbers(const source::SourceSpec& source, const table::Table& table,
                           const std::optional<io::LabelColumn>& column, const std::string& algorithm) {
  if (!is_guess_by_place(column)) return;
  throw_input_error("{}: no label is chosen, and the {} would be what {} learns: choose {}, or --label {} to insist",
                    source.location, guess_text(table.schema().label.value_or(""), *column), algorithm,
                    column->other.empty() ? "another with --label" : "one, such as --label " + column->other,
                    column->option);
}

Json options_for(const algorithm::Algorithm& algorithm, const Json& given, const table::Table& table,
                 const std::optional<io::LabelColumn>& column, const comm::Communicator& comm) {
  const Json for_classes = algorithm.options_for_classes();
  const auto is_given = [&](const auto& option) { return given.contains(option.key()); };
  if (std::ranges::any_of(for_classes.items(), is_given)) return given;
  const auto with = [&](const Json& added) {
    Json options = given;
    options.update(added);
    return options;
  };
  if (const std::size_t n = table.schema().classes.size(); n > 0) return n > 2 ? with(for_classes) : given;
  const LabelRange range = label_range(table, comm);
  const auto values = table::label_values(table, kFewClasses, comm);
  // Training refuses a label that is missing or a mistake, with its row.
  if (range.has_missing || table.n_global_rows() == 0) return given;
  if (values && has_stray_label(table, *values, comm)) return given;
  const bool are_repeated = values && (values->size() <= kFewRows || 2 * values->size() <= table.n_global_rows());
  if (!are_repeated || !range.are_whole)
    return is_guess_by_place(column) ? given : with(algorithm.options_for_numbers());
  return values->size() > 2 && !(is_guess_by_place(column) && column->last_may_be) ? with(for_classes) : given;
}

std::vector<float> numbers_as_classes(const source::SourceSpec& source, const table::Table& table,
                                      const table::LabelRules& rules, const comm::Communicator& comm) {
  constexpr float kMostExact = 1 << 24;
  if (!are_classes(rules.kind) || !table.schema().classes.empty() || !source.classes.empty()) return {};
  const auto values = table::label_values(table, kMostClasses, comm);
  const auto is_whole = [](float value) { return std::isfinite(value) && value == std::floor(value); };
  if (!values || values->size() < 2 || table::are_places(*values) || !std::ranges::all_of(*values, is_whole)) return {};
  const bool are_two = rules.kind == table::LabelKind::kTwoClasses;
  if (are_two && values->size() > 2) return {};  // refused with what learns them
  const bool are_chosen = !are_two && rules.n_classes > 0;
  if (are_chosen && values->front() >= 0 && values->back() < static_cast<float>(rules.n_classes)) return {};
  if (std::max(-values->front(), values->back()) >= kMostExact) {
    throw_input_error(
        "{}: labels of {} are beyond 2^24, where not each whole number is exact: take them as texts with "
        "--categorical {}",
        source.location, printable(*table.schema().label), *table.schema().label);
  }
  return *values;
}

void check_classes(const source::SourceSpec& source, const table::Schema& schema, const LabelWanted& wanted) {
  const std::vector<std::string>& classes = schema.classes;
  if (classes.empty()) return;
  const std::string label = printable(*schema.label);
  if (!are_classes(wanted.rules.kind)) {
    throw_input_error("{}: the label {} has texts ({}), and {} learns numbers: choose another with --label{}",
                      source.location, label, printable_list(classes), wanted.objective,
                      wanted.objective.starts_with("--") ? ", or leave out " + wanted.objective : "");
  }
  if (classes.size() == 1) {
    throw_input_error("{}: all labels of {} are {}; two classes at least are needed", source.location, label,
                      printable(classes[0]));
  }
  const std::size_t most = wanted.rules.kind == table::LabelKind::kTwoClasses ? 2 : wanted.rules.n_classes;
  if (most > 0 && classes.size() > most) {
    throw_input_error("{}: the label {} has {} classes ({}), and {} takes {}{}", source.location, label, classes.size(),
                      printable_list(classes), wanted.objective, most,
                      wanted.rules.kind == table::LabelKind::kTwoClasses ? ": " + wanted.rules.advice : "");
  }
}

Json describe_label(const source::SourceSpec& source, const table::Table& table,
                    const std::optional<io::LabelColumn>& column, table::LabelKind kind,
                    const comm::Communicator& comm) {
  Json label = {{"column", table.schema().label.value_or("")},
                {"position", column ? Json(column->position) : Json()},
                {"kind", kind_text(kind)}};
  if (!table.schema().classes.empty()) {
    label["classes"] = table.schema().classes;
    label["chosen"] = choice_text(source, column);
    return label;
  }
  std::optional<std::vector<float>> values;
  if (are_classes(kind)) values = table::label_values(table, kMostClasses, comm);
  if (values) {
    label["classes"] = source.classes.empty() ? Json(*values) : Json(source.classes);
  } else {
    const LabelRange range = label_range(table, comm);
    label["min"] = range.min;
    label["max"] = range.max;
  }
  label["chosen"] = choice_text(source, column);
  return label;
}

Json describe_no_label(const table::Schema& schema) {
  Json names = Json::array();
  for (const std::size_t j : io::usual_labels(schema.features)) names.push_back(schema.features[j]);
  return {{"kind", kind_text(table::LabelKind::kNone)},
          {"column", schema.label ? Json(*schema.label) : Json()},
          {"called_as_labels", std::move(names)}};
}

}  // namespace podere::jobs
