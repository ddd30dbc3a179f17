#include "podere/exchange/name_categories.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/json.h"
#include "podere/table/number_text.h"

namespace podere::exchange {
namespace {

std::string text_of(const SortedJson& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  const auto number = value.is_number() ? table::number_text(value.dump()) : std::nullopt;
  if (!number) throw_input_error("has the category {}, allowed are texts, numbers and truth values", value.dump());
  return *number;
}

/// The place of each category among the sorted ones.
std::vector<std::int32_t> sorted_places(const table::CategoryTexts& categories) {
  std::vector<std::size_t> order(categories.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t code) -> const std::string& { return categories[code]; });
  std::vector<std::int32_t> places(categories.size());
  for (std::size_t place = 0; place < order.size(); ++place) places[order[place]] = static_cast<std::int32_t>(place);
  return places;
}

/// Codes of `set` as places, rising.
std::vector<std::int32_t> renumbered(const std::vector<std::int32_t>& set, const std::vector<std::int32_t>& places,
                                     const std::string& feature) {
  std::vector<std::int32_t> result;
  for (const std::int32_t code : set) {
    if (std::cmp_greater_equal(code, places.size()))
      throw_input_error("a tree has category {} of {}, which has {}", code, feature, places.size());
    result.push_back(places[static_cast<std::size_t>(code)]);
  }
  std::ranges::sort(result);
  return result;
}

}  // namespace

table::CategoryTexts categories_from_json(const SortedJson& values) {
  if (!values.is_array() || values.size() > table::kMaxCategories)
    throw_input_error("has categories that are no list, or more than {}", table::kMaxCategories);
  table::CategoryTexts categories;
  for (const SortedJson& value : values) categories.push_back(text_of(value));
  categories.are_numbers = std::ranges::all_of(values, [](const SortedJson& value) { return value.is_number(); });
  std::vector<std::string> sorted(categories.begin(), categories.end());
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
    throw_input_error("has two categories that read '{}'", *twice);
  return categories;
}

void name_categories(tree::Model& model, const CategoriesByCode& categories) {
  std::map<std::size_t, std::vector<std::int32_t>> places;
  for (const auto& [feature, by_code] : categories) {
    places[feature] = sorted_places(by_code);
    table::CategoryTexts sorted = by_code;
    std::ranges::sort(sorted);
    model.schema.categories[feature] = std::move(sorted);
  }
  for (tree::Tree& tree : model.trees) {
    std::vector<std::vector<std::int32_t>> sets;  // one for each node, as nodes may have shared one
    for (tree::Node& node : tree.nodes) {
      if (node.is_leaf() || node.category_set < 0) continue;
      const auto feature = static_cast<std::size_t>(node.feature);
      const auto& set = tree.category_sets.at(static_cast<std::size_t>(node.category_set));
      const auto found = places.find(feature);
      sets.push_back(found == places.end() ? set : renumbered(set, found->second, model.schema.features[feature]));
      node.category_set = static_cast<std::int32_t>(sets.size() - 1);
    }
    tree.category_sets = std::move(sets);
  }
}

std::vector<std::string> unnamed_categories(const table::Schema& schema) {
  std::vector<std::string> names;
  for (const auto& [feature, texts] : schema.categories) {
    if (!texts) names.push_back(schema.features[feature]);
  }
  return names;
}

}  // namespace podere::exchange
