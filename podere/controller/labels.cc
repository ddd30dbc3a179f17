#include "podere/controller/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/controller/json.h"

namespace podere::controller {
namespace {

using Operator = Requirement::Operator;

constexpr std::array<std::pair<std::string_view, Operator>, 6> kOperators = {{{"In", Operator::kIn},
                                                                              {"NotIn", Operator::kNotIn},
                                                                              {"Exists", Operator::kExists},
                                                                              {"DoesNotExist", Operator::kDoesNotExist},
                                                                              {"Gt", Operator::kGreater},
                                                                              {"Lt", Operator::kLess}}};

std::optional<std::int64_t> integer_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_ordered(const std::string* value, const std::vector<std::string>& bounds, bool is_greater) {
  if (value == nullptr || bounds.size() != 1) return false;
  const auto number = integer_of(*value);
  const auto bound = integer_of(bounds.front());
  return number && bound && (is_greater ? *number > *bound : *number < *bound);
}

std::string text_of(const Requirement& requirement) {
  const auto& [key, op, values] = requirement;
  switch (op) {
    case Operator::kIn:
      return values.size() == 1 ? key + "=" + values.front() : fmt::format("{} in ({})", key, fmt::join(values, ","));
    case Operator::kNotIn:
      return fmt::format("{} notin ({})", key, fmt::join(values, ","));
    case Operator::kExists:
      return key;
    case Operator::kDoesNotExist:
      return "!" + key;
    default:
      return fmt::format("{}{}{}", key, op == Operator::kGreater ? ">" : "<", fmt::join(values, ","));
  }
}

}  // namespace

Labels::Labels(const Json& object) {
  if (!object.is_object()) return;
  entries_.reserve(object.size());
  for (const auto& [name, value] : object.items()) {  // which come by name
    if (value.is_string()) entries_.emplace_back(name, value.get_ref<const std::string&>());
  }
}

const std::string* Labels::find(std::string_view name) const {
  const auto found =
      std::ranges::lower_bound(entries_, name, {}, [](const auto& entry) -> std::string_view { return entry.first; });
  return found == entries_.end() || found->first != name ? nullptr : &found->second;
}

bool Requirement::holds(const std::string* value) const {
  const auto is_in = [&] { return value != nullptr && std::ranges::find(values, *value) != values.end(); };
  switch (op) {
    case Operator::kIn:
      return is_in();
    case Operator::kNotIn:
      return !is_in();
    case Operator::kExists:
      return value != nullptr;
    case Operator::kDoesNotExist:
      return value == nullptr;
    default:
      return is_ordered(value, values, op == Operator::kGreater);
  }
}

Requirement requirement_of(const Json& object) {
  Requirement requirement{.key = std::string(kube::text_at(object, {"key"}))};
  const auto name = kube::text_at(object, {"operator"});
  const auto* const known = std::ranges::find(kOperators, name, &std::pair<std::string_view, Operator>::first);
  if (known == kOperators.end()) throw_error("{} is no operator of a selector", printable(name));
  requirement.op = known->second;
  for (const Json& value : array_at(object, "values")) {
    if (value.is_string()) requirement.values.push_back(value);
  }
  return requirement;
}

bool LabelSelector::matches(const Labels& labels) const {
  return std::ranges::all_of(requirements, [&](const Requirement& r) { return r.holds(labels.find(r.key)); });
}

std::string LabelSelector::text() const {
  std::vector<std::string> parts;
  for (const Requirement& requirement : requirements) parts.push_back(text_of(requirement));
  return fmt::format("{}", fmt::join(parts, ","));
}

LabelSelector label_selector_of(const Json& object) {
  LabelSelector selector;
  if (!object.is_object()) return selector;
  for (const auto& [key, value] : object_at(object, {"matchLabels"}).items()) {
    selector.requirements.push_back({key, Operator::kIn, {value.is_string() ? value.get<std::string>() : ""}});
  }
  for (const Json& expression : array_at(object, "matchExpressions")) {
    selector.requirements.push_back(requirement_of(expression));
  }
  return selector;
}

}  // namespace podere::controller
