#include "podere/table/select_columns.h"

#include <algorithm>
#include <cstddef>
#include <map>

#include "podere/base/error.h"
#include "podere/base/nearest_name.h"
#include "podere/base/parallel.h"

namespace podere::table {
namespace {

[[noreturn]] void throw_no_feature(const Schema& schema, const std::string& name) {
  if (name == schema.label) throw_input_error("'{}' is the label, which stays without being asked for", name);
  if (name == schema.weight) throw_input_error("'{}' is the weight, which stays without being asked for", name);
  const auto nearest = nearest_name(name, schema.features);
  throw_input_error("the table has no feature '{}'{}", name, nearest ? "; did you mean '" + *nearest + "'?" : "");
}

/// Where the features are in the table.
std::vector<std::size_t> find_places(const Schema& schema, const std::vector<std::string>& features) {
  if (features.empty()) throw_input_error("no features are asked for; at least one is needed");
  std::map<std::string, std::size_t> place_of;
  for (std::size_t j = 0; j < schema.features.size(); ++j) place_of.emplace(schema.features[j], j);
  std::vector<std::size_t> places;
  std::vector<bool> is_selected(schema.features.size());
  for (const std::string& name : features) {
    const auto place = place_of.find(name);
    if (place == place_of.end()) throw_no_feature(schema, name);
    if (is_selected[place->second]) throw_input_error("the feature '{}' is asked for twice", name);
    is_selected[place->second] = true;
    places.push_back(place->second);
  }
  return places;
}

}  // namespace

Table select_columns(const Table& table, const std::vector<std::string>& features, int n_threads) {
  const Schema& schema = table.schema();
  const std::vector<std::size_t> places = find_places(schema, features);
  Schema selected{.features = features,
                  .label = schema.label,
                  .weight = schema.weight,
                  .classes = schema.classes,
                  .pictures = schema.pictures};
  for (std::size_t j = 0; j < places.size(); ++j) {
    const auto categories = schema.categories.find(places[j]);
    if (categories != schema.categories.end()) selected.categories.emplace(j, categories->second);
    if (schema.dates.contains(places[j])) selected.dates.insert(j);
  }
  Table result(std::move(selected), table.n_global_rows(), table.rows());
  parallel_for(n_threads, result.n_columns(), [&](std::size_t j, int) {
    // Label and weight stand behind the features on both sides.
    const std::size_t from = j < places.size() ? places[j] : j - places.size() + table.n_features();
    std::ranges::copy(table.column(from), result.column(j).begin());
  });
  return result;
}

}  // namespace podere::table
