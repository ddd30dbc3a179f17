// The values of one parameter, as numbers on a line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "podere/base/json.h"
#include "podere/tune/space.h"

namespace podere::tune {

/// The place of a value on a line, on which places are as likely as each other: the number itself, its logarithm, or
/// for choices and for steps 0, 1, ... in the midst of [-0.5, n - 0.5].
struct Interval {
  double low;
  double high;
};

/// Whether places are 0, 1, 2, ...
bool is_counted(const Parameter& parameter);

Interval places_of(const Parameter& parameter);
/// The value whose place is nearest.
Json value_at_place(const Parameter& parameter, double place);
/// NaN for what is no value of its kind. What is out of range counts as the end of the range.
double place_of(const Parameter& parameter, const Json& value);

/// nullopt: a real number without step has no end of values.
std::optional<std::uint64_t> n_values(const Parameter& parameter);
/// Value i of n_values(), in rising order.
Json value_number(const Parameter& parameter, std::uint64_t i);

/// Whether a parameter is there in a setting that has its parent, if that is there.
bool is_active(const Parameter& parameter, const Json& setting);

/// The setting of values, which are asked for by parameter and number of dimension: only for parameters that are there
/// and are no fixed ones.
Json setting_of(const Space& space, const std::function<Json(const Parameter&, std::size_t dimension)>& value_of);

/// The places of a setting, one for each dimension; NaN for parameters that are not there.
std::vector<double> places_in(const Space& space, const Json& setting);

}  // namespace podere::tune
