#include "podere/tune/space.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "podere/tune/domain.h"
#include "podere/tune/space_check.h"

namespace podere::tune {
namespace {

using Kind = Parameter::Kind;

Json json_of_parameter(const Parameter& parameter) {
  static constexpr const char* kKinds[] = {"fixed", "real", "integer", "choice"};
  Json json = {{"name", parameter.name}, {"kind", kKinds[static_cast<int>(parameter.kind)]}};
  if (parameter.kind == Parameter::Kind::kReal || parameter.kind == Parameter::Kind::kInteger) {
    json["low"] = parameter.low;
    json["high"] = parameter.high;
    json["log"] = parameter.is_log;
    json["step"] = parameter.step;
  } else {
    json["choices"] = parameter.choices;
  }
  if (!parameter.parent_values.empty())
    json["when"] = {{"name", parameter.parent}, {"values", parameter.parent_values}};
  return json;
}

}  // namespace

Space::Space(std::vector<Parameter> parameters)
    : parameters_(checked_parameters(std::move(parameters), [](const std::string&) { return std::string(); })),
      n_dimensions_(static_cast<std::size_t>(
          std::ranges::count_if(parameters_, [](const Parameter& p) { return p.kind != Kind::kFixed; }))) {}

Json Space::setting_at(std::span<const double> point) const {
  return setting_of(*this, [&](const Parameter& parameter, std::size_t dimension) {
    const Interval places = places_of(parameter);
    return value_at_place(parameter, places.low + point[dimension] * (places.high - places.low));
  });
}

Json Space::to_json() const {
  auto json = Json::array();
  for (const Parameter& parameter : parameters_) json.push_back(json_of_parameter(parameter));
  return json;
}

}  // namespace podere::tune
