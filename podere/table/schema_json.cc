#include "podere/table/schema_json.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/json.h"
#include "podere/base/json_fields.h"

namespace podere::table {
namespace {

std::optional<std::string> name_or_none(const Json& json) {
  auto name = json.get<std::string>();
  return name.empty() ? std::nullopt : std::optional(std::move(name));
}

Dictionary dictionary_from_json(const Json& column) {
  const Json& json = column.at("texts");
  if (json.is_null()) return std::nullopt;
  CategoryTexts texts(json.get<std::vector<std::string>>(), column.value("are_numbers", false));
  if (texts.size() > kMaxCategories || std::ranges::adjacent_find(texts, std::greater_equal()) != texts.end())
    throw InputError("the texts of a feature's categories are not sorted, or too many");
  return texts;
}

std::vector<std::string> classes_from_json(const Json& json) {
  auto classes = json.get<std::vector<std::string>>();
  const std::set<std::string_view> different(classes.begin(), classes.end());
  if (different.size() < classes.size() || classes.size() > kMaxTextClasses) {
    throw InputError("the classes of the label are not different, or too many");
  }
  return classes;
}

}  // namespace

Json to_json(const Schema& schema) {
  Json json{
      {"features", schema.features}, {"label", schema.label.value_or("")}, {"weight", schema.weight.value_or("")}};
  for (const auto& [feature, texts] : schema.categories) {
    json["categories"].push_back({{"feature", feature}, {"texts", texts ? Json(*texts) : Json()}});
    if (texts && texts->are_numbers) json["categories"].back()["are_numbers"] = true;
  }
  if (!schema.dates.empty()) json["dates"] = schema.dates;
  if (!schema.classes.empty()) json["classes"] = schema.classes;
  if (!schema.pictures.empty()) json["pictures"] = schema.pictures;
  return json;
}

Schema schema_from_json(const Json& json) {
  Schema schema;
  json.at("features").get_to(schema.features);
  schema.label = name_or_none(json.at("label"));
  schema.weight = name_or_none(json.at("weight"));
  if (json.contains("classes")) schema.classes = classes_from_json(json["classes"]);
  if (json.contains("pictures")) json["pictures"].get_to(schema.pictures);
  for (const Json& feature : json.value("dates", Json::array())) {
    std::size_t place = 0;
    read_json(feature, "date", place);
    if (place >= schema.features.size()) throw InputError("a feature of dates is not there");
    schema.dates.insert(place);
  }
  if (!json.contains("categories")) return schema;
  for (const Json& column : json["categories"]) {
    std::size_t feature = 0;
    read_json(column.at("feature"), "feature", feature);
    if (feature >= schema.features.size()) throw InputError("there are categories of a feature that is not there");
    if (!schema.categories.emplace(feature, dictionary_from_json(column)).second)
      throw InputError("a feature has its categories twice");
  }
  return schema;
}

void check_names(const std::vector<std::string>& names) {
  std::set<std::string_view> seen;
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (names[j].empty()) throw_input_error("feature {} has no name", j);
    if (!seen.insert(names[j]).second) throw_input_error("two features are named {}", names[j]);
    try {
      Json(names[j]).dump();
    } catch (const Json::exception&) {
      throw_input_error("the name of feature {} is not UTF-8", j);
    }
  }
}

}  // namespace podere::table
