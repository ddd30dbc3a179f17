#include "podere/io/csv_columns.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/io/decimal.h"
#include "podere/io/number_form.h"
#include "podere/table/features.h"

namespace podere::io {
namespace {

/// Positions of the columns that options ask for, by name or position.
class ColumnFinder {
 public:
  ColumnFinder(const std::string& where, const CsvLayout& layout)
      : where_(where), names_(layout.names), renamed_(layout.renamed) {}

  std::size_t find(const std::string& wanted, std::string_view what) const {
    const auto found = std::find(names_.begin(), names_.end(), wanted);
    if (found != names_.end()) {
      const auto again = std::ranges::find(renamed_, wanted, &CsvLayout::Renamed::was);
      if (again != renamed_.end()) {
        throw_input_error("{}: the {} column {} is ambiguous: positions {} and {} have that name; give a position",
                          where_, what, printable(wanted), found - names_.begin(), again->position);
      }
      return static_cast<std::size_t>(found - names_.begin());
    }
    const bool is_position =
        !wanted.empty() && wanted.size() < 10 && std::all_of(wanted.begin(), wanted.end(), detail::is_digit);
    if (is_position && std::stoul(wanted) < names_.size()) return std::stoul(wanted);
    throw_input_error("{}: there is no {} column {}; there are {}", where_, what, printable(wanted), known_names());
  }

 private:
  std::string known_names() const {
    constexpr std::size_t kMaxNames = 40;
    std::vector<std::string> known;
    for (const std::string& name : names_) {
      if (known.size() == kMaxNames) break;
      known.push_back(printable(name));
    }
    return fmt::format("{}{} (positions 0 to {})", fmt::join(known, ", "), names_.size() > kMaxNames ? ", ..." : "",
                       names_.size() - 1);
  }

  const std::string& where_;
  const std::vector<std::string>& names_;
  const std::vector<CsvLayout::Renamed>& renamed_;
};

/// Marks the features that hold categories.
void choose_categories(const ColumnFinder& finder, const std::string& where, const CsvOptions& options,
                       CsvLayout& layout) {
  std::map<std::size_t, table::Dictionary>& categories = layout.schema.categories;
  if (options.coded_as) {
    const table::Schema& known = *options.coded_as;
    const auto places = table::find_features(known, layout.schema.features);
    for (const auto& [feature, dictionary] : known.categories) {
      if (places[feature]) categories[*places[feature]] = dictionary;
    }
    return;
  }
  layout.finds_categories = true;
  const auto features = std::span(layout.fields).first(layout.schema.features.size());
  for (const std::string& column : options.categorical) {
    const std::size_t field = finder.find(column, "categorical");
    if (layout.label_field() == field) {
      layout.finds_classes = layout.chose_classes = true;
      continue;
    }
    const auto place = std::ranges::find(features, field);
    if (place == features.end()) {
      throw_input_error("{}: the categorical column {} is neither a feature nor the label", where, printable(column));
    }
    categories[static_cast<std::size_t>(place - features.begin())].emplace();
  }
}

/// What the fields of a column look like in a sample: the later, the likelier it is a label.
enum class Looks { kDate, kReal, kWhole, kText };

/// The number that a field stands for, be it written in one of number_forms(), but for booleans, which are classes.
std::optional<float> number_of(std::string_view field) {
  float value = 0;
  if (parse_float(field, value)) return value;
  const std::uint64_t forms = forms_of(field);
  if (forms == 0) return std::nullopt;
  const NumberForm& form = number_forms()[static_cast<std::size_t>(std::countr_zero(forms))];
  if (form.is_boolean) return std::nullopt;
  return static_cast<float>(*form.read(field));
}

bool is_date(std::string_view field) {
  const std::uint64_t forms = forms_of(field);
  return forms != 0 && number_forms()[static_cast<std::size_t>(std::countr_zero(forms))].is_date;
}

/// How columns look in `rows` [columns].
std::vector<Looks> find_looks(const std::vector<Fields>& rows, const MissingTokens& missing, std::size_t n_columns) {
  std::vector<Looks> looks(n_columns, Looks::kWhole);
  for (const Fields& fields : rows) {
    for (std::size_t i = 0; i < std::min(fields.size(), looks.size()); ++i) {
      if (looks[i] == Looks::kText || looks[i] == Looks::kDate || missing.holds(fields[i])) continue;
      const auto value = number_of(fields[i]);
      if (value && is_date(fields[i])) {
        looks[i] = Looks::kDate;
        continue;
      }
      if (!value) looks[i] = Looks::kText;
      if (value && *value != std::floor(*value)) looks[i] = Looks::kReal;
    }
  }
  return looks;
}

/// Whether the label's fields are texts: its classes are then to be found, or those of the model.
/// Throws InputError for a positive class of numbers.
void choose_classes(const std::string& file, const std::vector<Looks>& looks, const CsvOptions& options,
                    CsvLayout& layout) {
  const std::optional<std::size_t> label = layout.label_field();
  const bool has_features = layout.names.size() > 1;  // else most likely no delimiter was found
  if (!label || !has_features) return;
  if (options.coded_as) {
    layout.schema.classes = options.coded_as->classes;
  } else if ((looks[*label] == Looks::kText || looks[*label] == Looks::kDate) && !options.counts_texts) {
    layout.finds_classes = true;
  }
  if (options.positive && !layout.has_text_label()) {
    throw_input_error(
        "{}: the labels of {} are numbers, of which class 1 is the positive one; to choose another, take them as texts "
        "with --categorical {}",
        file, printable(*layout.schema.label), *layout.schema.label);
  }
}

/// Of the columns that may be features those that `known` names, where both name any: the others may hold anything.
void leave_to_known(const table::Schema& known, const CsvLayout& layout, std::vector<std::size_t>& fields) {
  if (table::is_made_up(known.features) || table::is_made_up(layout.names)) return;
  const std::unordered_set<std::string> wanted(known.features.begin(), known.features.end());
  const auto is_wanted = [&](std::size_t field) { return wanted.contains(layout.names[field]); };
  if (std::ranges::any_of(fields, is_wanted)) std::erase_if(fields, std::not_fn(is_wanted));
}

/// The column of the label, and why it is. Throws InputError where several have one of the usual names.
std::optional<std::pair<std::size_t, LabelChoice>> find_label(const ColumnFinder& finder, const std::string& where,
                                                              const CsvOptions& options,
                                                              const std::set<std::size_t>& used,
                                                              const std::vector<Looks>& looks, bool last_is_free,
                                                              const CsvLayout& layout) {
  if (options.label) return std::pair(finder.find(*options.label, "label"), LabelChoice::kOption);
  if (!options.needs_label) return std::nullopt;
  if (options.coded_as && options.coded_as->label) {
    const std::string& known = *options.coded_as->label;
    if (std::ranges::find(layout.names, known) != layout.names.end()) {
      return std::pair(finder.find(known, "label"), LabelChoice::kModel);
    }
    if (options.coded_as->classes.empty()) return std::pair(layout.index ? 1UL : 0UL, LabelChoice::kFirst);
  }
  std::vector<std::size_t> named = usual_labels(layout.names);
  std::erase_if(named, [&](std::size_t i) { return used.contains(i); });
  if (named.size() == 1) return std::pair(named[0], LabelChoice::kName);
  const std::size_t first = layout.index ? 1 : 0;
  const std::size_t last = layout.names.size() - 1;
  if (named.empty() && last_is_free && looks[last] > looks[first]) return std::pair(last, LabelChoice::kLast);
  if (named.empty() || named[0] == first) return std::pair(first, LabelChoice::kFirst);
  throw_input_error("{}: the label may be {} or {}: choose one with --label", where, printable(layout.names[named[0]]),
                    printable(layout.names[named[1]]));
}

/// The columns to be left out. What rows are for may have been made without columns that this file has not.
std::set<std::size_t> find_dropped(const ColumnFinder& finder, const CsvOptions& options, const CsvLayout& layout) {
  std::set<std::size_t> dropped;
  for (const std::string& column : options.drop) {
    const bool is_there = std::ranges::find(layout.names, column) != layout.names.end();
    const bool is_position = std::ranges::all_of(column, detail::is_digit);
    if (options.coded_as && !is_there && !is_position) continue;
    dropped.insert(finder.find(column, "dropped"));
  }
  return dropped;
}

/// Drops the column of the index, unless an option asks for it.
void leave_out_index(const ColumnFinder& finder, const CsvOptions& options, std::set<std::size_t>& dropped,
                     CsvLayout& layout) {
  if (!layout.index) return;
  const auto is_index = [&](const std::string& column) { return finder.find(column, "") == *layout.index; };
  const bool is_chosen = (options.label && is_index(*options.label)) || (options.weight && is_index(*options.weight)) ||
                         std::ranges::any_of(options.columns, is_index) ||
                         std::ranges::any_of(options.categorical, is_index);
  if (is_chosen || !options.columns.empty() || !dropped.insert(*layout.index).second) layout.index.reset();
}

void choose_fields(const std::string& where, const CsvOptions& options, const std::vector<Looks>& looks,
                   CsvLayout& layout) {
  const ColumnFinder finder(where, layout);
  if (!options.columns.empty() && !options.drop.empty()) {
    throw_input_error("{}: columns to take and columns to drop are both given; give one of --columns and --drop",
                      where.substr(0, where.rfind(':')));
  }
  std::set<std::size_t> dropped = find_dropped(finder, options, layout);
  leave_out_index(finder, options, dropped, layout);
  std::optional<std::size_t> weight;
  if (options.weight) weight = finder.find(*options.weight, "weight");
  for (const std::string& column : options.columns) layout.fields.push_back(finder.find(column, "feature"));
  std::set<std::size_t> used = dropped;
  used.insert(layout.fields.begin(), layout.fields.end());
  if (weight) used.insert(*weight);
  const std::size_t last = layout.names.size() - 1;
  const bool last_is_free = !used.contains(last) && std::ranges::none_of(options.categorical, [&](const auto& column) {
    return finder.find(column, "categorical") == last;
  });
  const auto chosen_label = find_label(finder, where, options, used, looks, last_is_free, layout);
  const auto label = chosen_label ? std::optional(chosen_label->first) : std::nullopt;
  if (chosen_label) layout.label_choice = chosen_label->second;
  layout.last_may_be_label =
      label == (layout.index ? 1 : 0) && last > label && last_is_free && looks[last] != Looks::kReal;
  if (options.columns.empty()) {
    for (std::size_t i = 0; i < layout.names.size(); ++i) {
      if (i != label && i != weight && !dropped.contains(i)) layout.fields.push_back(i);
    }
    if (options.coded_as) leave_to_known(*options.coded_as, layout, layout.fields);
  }
  for (const auto& [use, column] : {std::pair("label", label), std::pair("weight", weight)}) {
    if (!column || !dropped.contains(*column)) continue;
    throw_input_error("{}: column {} (position {}) is dropped, and the {}{}", where, printable(layout.names[*column]),
                      *column, use,
                      use == std::string_view("label") && !options.label ? "; choose another with --label" : "");
  }
  for (const std::size_t i : layout.fields) layout.schema.features.push_back(layout.names[i]);
  if (label) {
    layout.fields.push_back(*label);
    layout.schema.label = layout.names[*label];
  }
  if (weight) {
    layout.fields.push_back(*weight);
    layout.schema.weight = layout.names[*weight];
  }

  choose_categories(finder, where, options, layout);

  std::vector<std::pair<std::string_view, std::size_t>> chosen;
  for (const std::size_t i : layout.fields) chosen.emplace_back(layout.names[i], i);
  std::sort(chosen.begin(), chosen.end());
  for (std::size_t k = 1; k < chosen.size(); ++k) {
    const auto [name, i] = chosen[k];
    if (chosen[k - 1].second == i) {
      throw_input_error("{}: column {} (position {}) is asked for twice; a column is feature, label or weight, once",
                        where, printable(name), i);
    }
  }
}

}  // namespace

void choose_columns(const std::string& file, const std::string& where, const std::vector<Fields>& rows,
                    const MissingTokens& missing, const CsvOptions& options, CsvLayout& layout) {
  const std::vector<Looks> looks = find_looks(rows, missing, layout.names.size());
  choose_fields(where, options, looks, layout);
  choose_classes(file, looks, options, layout);
}

}  // namespace podere::io
