#include "podere/tune/space_check.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/nearest_name.h"
#include "podere/base/printable.h"
#include "podere/tune/domain.h"

namespace podere::tune {
namespace {

using Kind = Parameter::Kind;

std::string shown(const Json& value) { return printable_line(to_text(value), 100); }

std::string shown_list(const std::vector<Json>& values) {
  std::vector<std::string> texts;
  for (const Json& value : values) texts.push_back(shown(value));
  return printable_line(fmt::format("{}", fmt::join(texts, ", ")), 300);
}

void check_name(const std::string& name, const std::string& where) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (!name.empty() && std::ranges::all_of(name, is_allowed)) return;
  throw_input_error("{}{} is no name of a parameter; allowed are letters, digits, '_' and '-', as in learning_rate",
                    where, printable(name));
}

void check_value(const Json& value) {
  if (value.is_number_float() && !std::isfinite(value.get<double>())) {
    throw InputError("a value is not finite; allowed are numbers, texts, true and false");
  }
  if (value.is_number_integer() && std::abs(value.get<double>()) >= kMostWhole) {
    throw_input_error("{} is too large; whole numbers are allowed between -2^53 and 2^53", shown(value));
  }
  if (value.is_number() || value.is_string() || value.is_boolean()) return;
  throw InputError("a value is no number, text, true or false, which are allowed");
}

void check_choices(const std::vector<Json>& choices) {
  if (choices.empty()) throw InputError("the list of choices is empty; list at least one value");
  if (choices.size() > kMostChoices) {
    throw_input_error("the list has {} choices, allowed are {}; give a range", choices.size(), kMostChoices);
  }
  for (auto value = choices.begin(); value != choices.end(); ++value) {
    check_value(*value);
    if (std::find(choices.begin(), value, *value) == value) continue;
    throw_input_error("the choice {} is there twice; list each value once", shown(*value));
  }
}

void check_step(const Parameter& parameter) {
  if (parameter.step == 0) return;
  const double range = parameter.high - parameter.low;
  if (!(parameter.step > 0 && parameter.step <= range)) {
    throw_input_error("step is {}, allowed is more than 0, up to the range of {}; change it or leave it out",
                      parameter.step, range);
  }
  if (parameter.is_log) throw InputError("log and step exclude each other; leave one out, or list the values");
  if (range / parameter.step >= kMostWhole) {
    throw_input_error("step is {}, too small for the range of {}; leave it out", parameter.step, range);
  }
}

void check_integers(const Parameter& parameter) {
  for (const double value : {parameter.low, parameter.high, parameter.step, parameter.high - parameter.low}) {
    if (value == std::floor(value) && std::abs(value) < kMostWhole) continue;
    throw_input_error("{} is no whole number between -2^53 and 2^53, as low, high, step and range must be", value);
  }
}

void check_range(const Parameter& parameter) {
  const double low = parameter.low;
  const double high = parameter.high;
  if (!std::isfinite(low) || !std::isfinite(high) || !std::isfinite(high - low) || !std::isfinite(parameter.step)) {
    throw_input_error("low, high, their difference and step must be finite numbers; low is {}, high {}, step {}", low,
                      high, parameter.step);
  }
  if (low > high) throw_input_error("low is {} and high is {}, the wrong way round; exchange them", low, high);
  if (parameter.is_log && low <= 0) {
    throw_input_error("log needs a low above 0, it is {}; raise it, or leave log out", low);
  }
  if (parameter.kind == Kind::kInteger) check_integers(parameter);
  check_step(parameter);
}

void check_parameter(const Parameter& parameter) {
  if (parameter.kind == Kind::kReal || parameter.kind == Kind::kInteger) {
    check_range(parameter);
  } else {
    check_choices(parameter.choices);
    if (parameter.kind == Kind::kFixed && parameter.choices.size() != 1) {
      throw_input_error("has {} values, a fixed parameter has one", parameter.choices.size());
    }
  }
}

bool has_single_value(const Parameter& parameter) {
  return parameter.kind == Kind::kReal ? parameter.low == parameter.high : n_values(parameter) == 1U;
}

Parameter fixed(const Parameter& parameter) {
  return {.name = parameter.name,
          .kind = Kind::kFixed,
          .choices = {parameter.kind == Kind::kReal ? Json(parameter.low) : value_number(parameter, 0)},
          .parent = parameter.parent,
          .parent_values = parameter.parent_values};
}

/// Values that a parent can have.
std::string values_of(const Parameter& parameter) {
  if (parameter.kind != Kind::kInteger) return shown_list(parameter.choices);
  const std::string steps = parameter.step > 1 ? fmt::format(" in steps of {}", parameter.step) : "";
  return fmt::format("whole numbers from {} to {}{}", parameter.low, parameter.high, steps);
}

bool can_have(const Parameter& parameter, const Json& value) {
  if (parameter.kind != Kind::kInteger) return std::ranges::find(parameter.choices, value) != parameter.choices.end();
  return value.is_number() && value_at_place(parameter, place_of(parameter, value)) == value;
}

using ByName = std::map<std::string, const Parameter*, std::less<>>;

const Parameter& parent_of(const Parameter& parameter, const ByName& by_name) {
  if (const auto found = by_name.find(parameter.parent); found != by_name.end()) return *found->second;
  std::vector<std::string> names;
  for (const auto& [name, ignored] : by_name) names.push_back(name);
  const auto nearest = nearest_name(parameter.parent, names);
  throw_input_error("'when' names {}, which is no parameter of the space; {}", printable(parameter.parent),
                    nearest ? fmt::format("perhaps {} is meant", printable(*nearest))
                            : fmt::format("there are {}", printable_list(names)));
}

void check_condition(const Parameter& parameter, const ByName& by_name) {
  if (parameter.parent.empty() && parameter.parent_values.empty()) return;
  const Parameter& parent = parent_of(parameter, by_name);
  if (parameter.parent_values.empty()) throw InputError("'when' has no values; list at least one");
  if (parent.kind == Kind::kReal) {
    throw_input_error("'when' names {}, a real number; allowed are choices, whole numbers and fixed values",
                      parent.name);
  }
  for (const Json& value : parameter.parent_values) {
    check_value(value);
    if (can_have(parent, value)) continue;
    throw_input_error("'when' asks for {} = {}, which it cannot have; allowed are {}", parent.name, shown(value),
                      values_of(parent));
  }
}

/// The ancestors of a parameter that are not placed yet, the parameter first.
std::vector<const Parameter*> chain_of(const Parameter& parameter, const ByName& unplaced) {
  std::vector<const Parameter*> chain;
  std::vector<std::string> names;
  for (auto at = unplaced.find(parameter.name); at != unplaced.end(); at = unplaced.find(at->second->parent)) {
    names.push_back(at->first);
    if (std::ranges::find(chain, at->second) != chain.end()) {
      throw_input_error("'when' makes a circle: {}; leave one of them out",
                        printable_line(fmt::format("{}", fmt::join(names, " of ")), 300));
    }
    chain.push_back(at->second);
  }
  return chain;
}

using Where = std::function<std::string(const std::string& name)>;

/// What `check` returns; an InputError names the place and the parameter first.
template <typename Check>
auto named(const Where& where, const Parameter& parameter, const Check& check) {
  try {
    return check();
  } catch (const InputError& error) {
    throw InputError(where(parameter.name) + parameter.name + ": " + error.what());
  }
}

void check_number(std::size_t n_parameters, const Where& where) {
  if (n_parameters == 0) throw_input_error("{}the space has no parameters; give at least one", where(""));
  if (n_parameters <= kMostParameters) return;
  throw_input_error("{}the space has {} parameters, allowed are {}", where(""), n_parameters, kMostParameters);
}

std::vector<Parameter> parents_first(const std::vector<Parameter>& parameters, ByName unplaced, const Where& where) {
  std::vector<Parameter> ordered;
  for (const Parameter& parameter : parameters) {
    auto chain = named(where, parameter, [&] { return chain_of(parameter, unplaced); });
    for (; !chain.empty(); chain.pop_back()) {
      unplaced.erase(chain.back()->name);
      ordered.push_back(*chain.back());
    }
  }
  return ordered;
}

}  // namespace

std::vector<Parameter> checked_parameters(std::vector<Parameter> parameters, const Where& where) {
  check_number(parameters.size(), where);
  ByName by_name;
  for (Parameter& parameter : parameters) {
    check_name(parameter.name, where(parameter.name));
    named(where, parameter, [&] { check_parameter(parameter); });
    if (!by_name.emplace(parameter.name, &parameter).second) {
      throw_input_error("{}{} is there twice ('-' and '_' are the same)", where(parameter.name), parameter.name);
    }
    if (has_single_value(parameter)) parameter = fixed(parameter);
  }
  for (const Parameter& parameter : parameters) {
    named(where, parameter, [&] { check_condition(parameter, by_name); });
  }
  return parents_first(parameters, by_name, where);
}

}  // namespace podere::tune
