#include "podere/tree/constraints.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/number.h"
#include "podere/tree/objective.h"

namespace podere::tree {
namespace {

struct MonotoneTerm {
  std::string feature;
  int sign;
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// "pt:+1,eta:-1". A name may have colons of its own.
std::vector<MonotoneTerm> parse_monotone(const std::string& text) {
  std::vector<MonotoneTerm> terms;
  if (text.empty()) return terms;
  for (const std::string& part : split(text, ',')) {
    const std::size_t colon = part.rfind(':');
    const std::string sign = colon == std::string::npos ? "" : part.substr(colon + 1);
    if (colon == 0 || (sign != "+1" && sign != "1" && sign != "0" && sign != "-1")) {
      throw_input_error("monotone has '{}', allowed is FEATURE:+1, FEATURE:-1 or FEATURE:0", part);
    }
    terms.push_back({part.substr(0, colon), sign == "0" ? 0 : sign == "-1" ? -1 : 1});
  }
  return terms;
}

/// "a,b;c,d,e".
std::vector<std::vector<std::string>> parse_interactions(const std::string& text) {
  std::vector<std::vector<std::string>> sets;
  if (text.empty()) return sets;
  for (const std::string& part : split(text, ';')) {
    sets.push_back(split(part, ','));
    if (std::ranges::any_of(sets.back(), &std::string::empty)) {
      throw_input_error("interactions is '{}', allowed are sets of features such as a,b;c,d,e", text);
    }
  }
  return sets;
}

/// The place of a feature that is named, or given by its position among the features.
std::size_t place_of(const std::string& wanted, const table::Schema& schema, const char* constraint) {
  const std::vector<std::string>& names = schema.features;
  const auto found = std::ranges::find(names, wanted);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  const bool is_position = std::ranges::all_of(wanted, [](char c) { return c >= '0' && c <= '9'; });
  const auto position = parse_count(wanted);
  if (is_position && position && *position < names.size()) return *position;
  constexpr std::size_t kMaxNames = 40;
  throw_input_error("{}: there is no feature {}; there are {}{} (positions 0 to {})", constraint, wanted,
                    fmt::join(std::span(names).first(std::min(kMaxNames, names.size())), ", "),
                    names.size() > kMaxNames ? ", ..." : "", names.size() - 1);
}

std::vector<std::int8_t> resolve_monotone(const Options& options, const table::Schema& schema) {
  std::vector<std::int8_t> signs;
  std::vector<std::uint8_t> is_given(schema.features.size());
  for (const auto& [feature, sign] : parse_monotone(options.monotone)) {
    const std::size_t place = place_of(feature, schema, "monotone");
    if (std::exchange(is_given[place], 1) != 0) throw_input_error("monotone: {} is given twice", feature);
    if (sign == 0) continue;
    if (schema.is_categorical(place)) {
      throw_input_error("monotone: {} has categories, which have no order; allowed are numbers", feature);
    }
    signs.resize(schema.features.size());
    signs[place] = static_cast<std::int8_t>(sign);
  }
  return signs;
}

std::vector<std::vector<std::uint32_t>> resolve_interactions(const Options& options, const table::Schema& schema) {
  std::vector<std::vector<std::uint32_t>> sets_of;
  std::uint32_t n_sets = 0;
  for (const std::vector<std::string>& set : parse_interactions(options.interactions)) {
    sets_of.resize(schema.features.size());
    for (const std::string& feature : set) {
      std::vector<std::uint32_t>& sets = sets_of[place_of(feature, schema, "interactions")];
      if (sets.empty() || sets.back() != n_sets) sets.push_back(n_sets);
    }
    ++n_sets;
  }
  for (std::vector<std::uint32_t>& sets : sets_of) {
    if (sets.empty()) sets.push_back(n_sets++);
  }
  return sets_of;
}

}  // namespace

void check_constraints(const Options& options) {
  parse_interactions(options.interactions);
  if (!parse_monotone(options.monotone).empty() && traits_of(options.objective).has_output_per_class()) {
    throw_input_error(
        "monotone is '{}', allowed with softmax is none: where all classes' margins rise, a probability may fall",
        options.monotone);
  }
}

Constraints resolve_constraints(const Options& options, const table::Schema& schema) {
  return {.monotone = resolve_monotone(options, schema), .sets_of = resolve_interactions(options, schema)};
}

OpenSets sets_below(const Constraints& constraints, const OpenSets& open, std::size_t feature) {
  if (constraints.sets_of.empty()) return std::nullopt;
  const std::vector<std::uint32_t>& sets = constraints.sets_of[feature];
  if (!open) return sets;
  std::vector<std::uint32_t> both;
  std::ranges::set_intersection(*open, sets, std::back_inserter(both));
  return both;
}

}  // namespace podere::tree
