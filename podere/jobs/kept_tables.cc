#include "podere/jobs/kept_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/table/features.h"
#include "podere/table/labels.h"
#include "podere/table/number_text.h"

namespace podere::jobs {
namespace {

constexpr std::size_t kMostNameBytes = 100;

void check_name(const std::string& name) {
  const auto is_allowed = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-';
  };
  if (!name.empty() && name.size() <= kMostNameBytes && std::ranges::all_of(name, is_allowed)) return;
  throw_input_error("a table cannot be called {}: allowed are up to {} letters, digits, dots, _ and -", printable(name),
                    kMostNameBytes);
}

/// The code in `known` of each code in `texts`; NaN where there is none.
std::vector<float> code_map(const table::CategoryTexts& texts, const table::CategoryTexts& known) {
  std::unordered_map<std::string_view, std::size_t> code_of;
  for (std::size_t code = 0; code < known.size(); ++code) code_of.emplace(known[code], code);
  std::vector<float> codes;
  for (const std::string& text : texts) {
    const auto found = code_of.find(known.are_numbers ? table::number_text(text).value_or(text) : text);
    codes.push_back(found == code_of.end() ? std::numeric_limits<float>::quiet_NaN()
                                           : static_cast<float>(found->second));
  }
  return codes;
}

/// Categories of `table` whose codes mean something else in the model: by feature, the model's dictionary.
std::map<std::size_t, table::Dictionary> find_differences(const table::Schema& schema, const table::Schema& known) {
  const auto places = table::find_features(known, schema.features);
  std::map<std::size_t, table::Dictionary> differences;
  for (std::size_t j = 0; j < known.features.size(); ++j) {
    if (!places[j]) continue;
    const std::string& name = schema.features[*places[j]];
    if (schema.is_categorical(*places[j]) != known.is_categorical(j)) {
      throw_input_error("column {} holds {}, in the model {}: load the table anew, with{} this column as categorical",
                        name, known.is_categorical(j) ? "numbers" : "categories",
                        known.is_categorical(j) ? "categories" : "numbers", known.is_categorical(j) ? "" : "out");
    }
    if (!known.is_categorical(j)) continue;
    const table::Dictionary& theirs = known.categories.at(j);
    const table::Dictionary& ours = schema.categories.at(*places[j]);
    if (theirs.has_value() != ours.has_value()) {
      throw_input_error("column {} holds {} in the table, {} in the model", name, ours ? "texts" : "codes",
                        theirs ? "texts" : "codes");
    }
    if (theirs != ours) differences.emplace(*places[j], theirs);
  }
  return differences;
}

/// The place in `known` of each class of a table. Throws InputError for one that is not there.
std::vector<float> class_map(const table::Schema& schema, const table::Schema& known) {
  std::vector<float> places;
  for (const std::string& text : schema.classes) {
    const auto found = std::ranges::find(known.classes, text);
    if (found == known.classes.end()) {
      throw_input_error("the label {} has the class {}, which is none of the model's: {}", *schema.label,
                        printable(text), printable_list(known.classes));
    }
    places.push_back(static_cast<float>(found - known.classes.begin()));
  }
  return places;
}

/// Whether classes that are texts are others than in the model, or in another order. Throws InputError where the model
/// learned numbers.
bool has_other_classes(const table::Schema& schema, const table::Schema& known) {
  if (!schema.label || schema.classes.empty() || schema.classes == known.classes) return false;
  if (known.classes.empty()) {
    throw_input_error("the label {} holds texts in the table, numbers in the model", printable(*schema.label));
  }
  return true;
}

table::Table copy(const table::Table& table, table::Schema schema) {
  table::Table result(std::move(schema), table.n_global_rows(), table.rows());
  for (std::size_t j = 0; j < table.n_features(); ++j) std::ranges::copy(table.feature(j), result.feature(j).begin());
  std::ranges::copy(table.label(), result.label().begin());
  std::ranges::copy(table.weight(), result.weight().begin());
  return result;
}

}  // namespace

const table::Table& JobTable::operator*() const {
  const auto* own = std::get_if<table::Table>(&table_);
  return own != nullptr ? *own : *std::get<table::Table*>(table_);
}

void JobTable::number_labels(const std::vector<float>& classes, int n_threads) {
  auto* own = std::get_if<table::Table>(&table_);
  table::Table& table = own != nullptr ? *own : *std::get<table::Table*>(table_);
  if (own == nullptr) restore_labels_ = std::make_unique<RestoreLabels>(table);
  table::number_labels(table, classes, n_threads);
}

JobTable::RestoreLabels::RestoreLabels(table::Table& table)
    : table_(table), labels_(table.label().begin(), table.label().end()) {}
JobTable::RestoreLabels::~RestoreLabels() {
  std::ranges::copy(labels_, table_.label().begin());
  table_.set_classes({});
}

std::unique_ptr<table::RowSource> JobTable::rows() {
  auto* own = std::get_if<table::Table>(&table_);
  if (own != nullptr) return std::make_unique<table::HeldRows>(std::move(*own));
  return std::make_unique<table::HeldRows>(**this);
}

void KeptTables::check_free(const std::string& name) const {
  check_name(name);
  if (tables_.contains(name)) throw_input_error("there is a table called {} already: drop it first", name);
}

void KeptTables::keep(const std::string& name, table::Table table) {
  check_free(name);
  tables_.emplace(name, Kept{std::move(table), nullptr});
}

void KeptTables::drop(const std::string& name) {
  at(name);
  tables_.erase(name);
}

std::shared_ptr<void>& KeptTables::companion(const std::string& name) {
  at(name);
  return tables_.at(name).companion;
}

table::Table& KeptTables::at(const std::string& name) {
  const auto found = tables_.find(name);
  if (found != tables_.end()) return found->second.table;
  std::vector<std::string> names;
  for (const auto& [known, table] : tables_) names.push_back(known);
  throw_input_error("there is no table called {}; there {}", name,
                    names.empty() ? "is none" : fmt::format("are {}", fmt::join(names, ", ")));
}

table::Table& KeptTables::find(const source::SourceSpec& spec, bool needs_label) {
  table::Table& table = at(*source::kept_name(spec.location));
  if (source::chooses_how_to_read(spec) || !spec.rows.is_all()) {
    throw_input_error("{}: how to read a table is chosen when it is loaded; rows and columns are chosen by transform",
                      spec.location);
  }
  if (needs_label && !table.schema().label) {
    const auto usual = io::usual_labels(table.schema().features);
    throw_input_error("{} has no label: say which column it is when the table is loaded{}", spec.location,
                      usual.empty() ? "" : ", such as --label " + table.schema().features[usual.front()]);
  }
  return table;
}

JobTable coded_as(table::Table& kept, const table::Schema& known, bool needs_label, const comm::Communicator& comm,
                  io::UnknownTexts& unknown) {
  const auto differences = find_differences(kept.schema(), known);
  const bool changes_classes = needs_label && has_other_classes(kept.schema(), known);
  if (differences.empty() && !changes_classes) return JobTable(kept);
  table::Schema schema = kept.schema();
  if (changes_classes) schema.classes = known.classes;
  for (const auto& [feature, dictionary] : differences) schema.categories[feature] = dictionary;
  table::Table result = copy(kept, std::move(schema));
  for (const auto& [feature, dictionary] : differences) {
    const auto codes = code_map(*kept.schema().categories.at(feature), *dictionary);
    std::uint64_t n_unknown = 0;
    for (float& value : result.feature(feature)) {
      if (std::isnan(value)) continue;
      value = codes.at(static_cast<std::size_t>(value));
      n_unknown += std::isnan(value) ? 1 : 0;
    }
    n_unknown = comm.all_reduce(n_unknown, comm::Reduction::kSum);
    if (n_unknown > 0) unknown[kept.schema().features[feature]] += n_unknown;
  }
  if (changes_classes) {
    const std::vector<float> places = class_map(kept.schema(), known);
    for (float& label : result.label()) {
      const bool is_place = label >= 0 && label < static_cast<float>(places.size());
      if (is_place) label = places[static_cast<std::size_t>(label)];
    }
  }
  return JobTable(std::move(result));
}

Json facts_of(const std::string& name, const table::Table& table) {
  const table::Schema& schema = table.schema();
  Json categorical = Json::array();
  for (const auto& [feature, dictionary] : schema.categories) categorical.push_back(schema.features[feature]);
  const std::size_t n_columns = schema.features.size() + (schema.label ? 1 : 0) + (schema.weight ? 1 : 0);
  return {{"name", name},
          {"rows", table.n_global_rows()},
          {"features", schema.features},
          {"label", schema.label ? Json(*schema.label) : Json()},
          {"weight", schema.weight ? Json(*schema.weight) : Json()},
          {"classes", schema.classes},
          {"categorical", std::move(categorical)},
          {"memory_bytes", table.n_global_rows() * n_columns * sizeof(float)}};
}

}  // namespace podere::jobs
