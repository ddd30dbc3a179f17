#include "podere/tune/domain.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "podere/base/portable_math.h"

namespace podere::tune {
namespace {

using Kind = Parameter::Kind;

/// low + i * step as a person would write it: 0.8 instead of 0.8000000000000000444. Rounded to a part in 10^12 of the
/// step.
double step_number(const Parameter& parameter, double i) {
  if (i == 0) return parameter.low;
  const double value = parameter.low + i * parameter.step;
  const int decimals = std::clamp(12 - std::ilogb(parameter.step) * 3 / 10, 0, 330);
  const std::string text = fmt::format("{:.{}f}", value, decimals);
  double rounded = value;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return std::clamp(rounded + 0.0, parameter.low, parameter.high);  // + 0.0 makes 0 of -0
}

double whole_step(const Parameter& parameter) { return std::max(parameter.step, 1.0); }

Json whole(double value) { return static_cast<std::int64_t>(value); }

}  // namespace

bool is_counted(const Parameter& parameter) {
  if (parameter.kind == Kind::kReal) return parameter.step > 0;
  return parameter.kind == Kind::kChoice || !parameter.is_log;
}

Interval places_of(const Parameter& parameter) {
  if (is_counted(parameter)) return {-0.5, static_cast<double>(*n_values(parameter)) - 0.5};
  if (!parameter.is_log) return {parameter.low, parameter.high};
  const double half = parameter.kind == Kind::kInteger ? 0.5 : 0;  // so that the ends are as likely as others
  return {portable_log(parameter.low - half), portable_log(parameter.high + half)};
}

Json value_at_place(const Parameter& parameter, double place) {
  if (is_counted(parameter)) {
    const auto last = static_cast<double>(*n_values(parameter) - 1);
    return value_number(parameter, static_cast<std::uint64_t>(std::clamp(std::floor(place + 0.5), 0.0, last)));
  }
  const double value = parameter.is_log ? portable_exp(place) : place;
  if (parameter.kind == Kind::kReal) return std::clamp(value, parameter.low, parameter.high);
  return whole(std::clamp(std::floor(value + 0.5), parameter.low, parameter.high));
}

double place_of(const Parameter& parameter, const Json& value) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (parameter.kind == Kind::kChoice) {
    const auto found = std::ranges::find(parameter.choices, value);
    return found == parameter.choices.end() ? kNone : static_cast<double>(found - parameter.choices.begin());
  }
  if (!value.is_number() || std::isnan(value.get<double>())) return kNone;
  const double number = std::clamp(value.get<double>(), parameter.low, parameter.high);
  if (!is_counted(parameter)) return parameter.is_log ? portable_log(number) : number;
  const double step = parameter.kind == Kind::kInteger ? whole_step(parameter) : parameter.step;
  const auto last = static_cast<double>(*n_values(parameter) - 1);
  return std::min(std::floor((number - parameter.low) / step + 0.5), last);
}

std::optional<std::uint64_t> n_values(const Parameter& parameter) {
  if (parameter.kind == Kind::kFixed || parameter.kind == Kind::kChoice) return parameter.choices.size();
  const double range = parameter.high - parameter.low;
  if (parameter.kind == Kind::kInteger) return static_cast<std::uint64_t>(range / whole_step(parameter)) + 1;
  if (parameter.step == 0) return std::nullopt;
  constexpr double kRounded = 1 + 1e-10;  // 0.3 / 0.1 is a little less than 3
  return static_cast<std::uint64_t>(range / parameter.step * kRounded) + 1;
}

Json value_number(const Parameter& parameter, std::uint64_t i) {
  if (parameter.kind == Kind::kFixed || parameter.kind == Kind::kChoice) return parameter.choices[i];
  const auto number = static_cast<double>(i);
  if (parameter.kind == Kind::kInteger) return whole(parameter.low + number * whole_step(parameter));
  return step_number(parameter, number);
}

bool is_active(const Parameter& parameter, const Json& setting) {
  if (parameter.parent_values.empty()) return true;
  const auto parent = setting.find(parameter.parent);
  if (parent == setting.end()) return false;
  return std::ranges::find(parameter.parent_values, *parent) != parameter.parent_values.end();
}

Json setting_of(const Space& space, const std::function<Json(const Parameter&, std::size_t dimension)>& value_of) {
  auto setting = Json::object();
  std::size_t dimension = 0;
  for (const Parameter& parameter : space.parameters()) {
    const bool is_fixed = parameter.kind == Kind::kFixed;
    if (is_active(parameter, setting)) {
      setting[parameter.name] = is_fixed ? parameter.choices.front() : value_of(parameter, dimension);
    }
    if (!is_fixed) ++dimension;
  }
  return setting;
}

std::vector<double> places_in(const Space& space, const Json& setting) {
  std::vector<double> places;
  places.reserve(space.n_dimensions());
  for (const Parameter& parameter : space.parameters()) {
    if (parameter.kind == Kind::kFixed) continue;
    const auto value = setting.find(parameter.name);
    places.push_back(place_of(parameter, value == setting.end() ? Json() : *value));
  }
  return places;
}

}  // namespace podere::tune
