// Spaces as TOML files.
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/nearest_name.h"
#include "podere/base/printable.h"
#include "podere/tune/space.h"
#include "podere/tune/space_check.h"

namespace podere::tune {
namespace {

using Kind = Parameter::Kind;

const std::vector<std::string> kKeys = {"low", "high", "log", "step", "choices", "value", "when"};

std::string option_name(std::string_view key) {
  std::string name(key);
  std::ranges::replace(name, '-', '_');
  return name;
}

/// What a node of a file is, for messages.
std::string kind_of(const toml::node& node) {
  if (node.is_table()) return "a table";
  if (node.is_array()) return "a list";
  if (node.is_date() || node.is_time() || node.is_date_time()) return "a date or time";
  if (node.is_string()) return "a text";
  return node.is_boolean() ? "true or false" : "a number";
}

/// Reads the value of one key of a file.
class ParameterReader {
 public:
  ParameterReader(const std::string& file, const toml::key& key) : file_(file), key_(key.str()) {
    parameter_.name = option_name(key_);
  }

  Parameter read(const toml::node& node) {
    if (const toml::table* table = node.as_table()) {
      read_table(*table);
    } else if (node.is_array()) {
      read_choices(node);
    } else {
      parameter_.choices = {value_of(node)};
    }
    return std::move(parameter_);
  }

 private:
  template <typename... Args>
  [[noreturn]] void refuse(const toml::node& node, fmt::format_string<Args...> format, Args&&... args) const {
    throw_input_error("{}:{}: {}: {}", file_, node.source().begin.line, printable_line(key_, 100),
                      fmt::format(format, std::forward<Args>(args)...));
  }

  Json value_of(const toml::node& node) const {
    if (const auto* text = node.as_string()) return text->get();
    if (const auto* truth = node.as_boolean()) return truth->get();
    if (const auto* real = node.as_floating_point()) {
      if (std::isfinite(real->get())) return real->get();
      refuse(node, "{} is not finite; give a finite number", real->get());
    }
    if (node.is_integer()) return whole_number(node);
    refuse(node, "{} is no value; allowed are numbers, texts, true and false, and lists of these", kind_of(node));
  }

  std::int64_t whole_number(const toml::node& node) const {
    const std::int64_t number = node.as_integer()->get();
    constexpr auto kMost = static_cast<std::int64_t>(kMostWhole);
    if (number > -kMost && number < kMost) return number;
    refuse(node, "{} is too large; whole numbers are allowed between -2^53 and 2^53", number);
  }

  std::vector<Json> values_of(const toml::node& node) const {
    const toml::array* array = node.as_array();
    if (array == nullptr) return {value_of(node)};
    std::vector<Json> values;
    for (const toml::node& element : *array) values.push_back(value_of(element));
    return values;
  }

  void read_choices(const toml::node& node) {
    if (!node.is_array()) refuse(node, "choices is {}, a list is allowed, such as [1, 2]", kind_of(node));
    parameter_.kind = Kind::kChoice;
    parameter_.choices = values_of(node);
  }

  double number(const toml::table& table, const char* key) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return 0;
    if (node->is_integer()) return static_cast<double>(whole_number(*node));
    if (const auto* real = node->as_floating_point()) return real->get();
    refuse(*node, "{} is {}, a number is allowed", key, kind_of(*node));
  }

  void read_range(const toml::table& table) {
    if (!table.contains("low") || !table.contains("high")) {
      refuse(table, "low and high belong together; give both, or choices, or a value");
    }
    parameter_.low = number(table, "low");
    parameter_.high = number(table, "high");
    parameter_.step = number(table, "step");
    const bool is_integer = table.get("low")->is_integer() && table.get("high")->is_integer();
    parameter_.kind = is_integer ? Kind::kInteger : Kind::kReal;
    if (const toml::node* step = table.get("step")) {
      if (parameter_.step == 0) refuse(*step, "step is 0; give more than 0, or leave it out");
      if (is_integer && !step->is_integer()) {
        refuse(*step, "step is {}, of low and high that are whole numbers; write these as real numbers, such as {}.0",
               parameter_.step, parameter_.low);
      }
    }
    if (const toml::node* log = table.get("log")) {
      if (!log->is_boolean()) refuse(*log, "log is {}, allowed are true and false", kind_of(*log));
      parameter_.is_log = log->as_boolean()->get();
    }
  }

  void read_condition(const toml::node& node) {
    const toml::table* condition = node.as_table();
    if (condition == nullptr || condition->size() != 1) {
      refuse(node, "'when' names one parameter and its values, such as when = {{ growth = \"best-first\" }}");
    }
    const auto entry = condition->begin();
    parameter_.parent = option_name(entry->first.str());
    parameter_.parent_values = values_of(entry->second);
  }

  void check_keys(const toml::table& table) const {
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (std::ranges::find(kKeys, name) != kKeys.end()) continue;
      const auto nearest = nearest_name(name, kKeys);
      refuse(node, "{} is not known{}; allowed are {}", printable(name),
             nearest ? fmt::format(", perhaps '{}' is meant", *nearest) : "", fmt::join(kKeys, ", "));
    }
  }

  void read_table(const toml::table& table) {
    check_keys(table);
    const bool has_range = table.contains("low") || table.contains("high");
    const int n_forms = has_range + table.contains("choices") + table.contains("value");
    if (n_forms != 1) refuse(table, "needs one of: low and high, choices, value; it has {} of these", n_forms);
    if (!has_range && (table.contains("log") || table.contains("step"))) {
      refuse(table, "log and step belong to low and high; leave them out");
    }
    if (has_range) read_range(table);
    if (const toml::node* choices = table.get("choices")) read_choices(*choices);
    if (const toml::node* value = table.get("value")) parameter_.choices = {value_of(*value)};
    if (const toml::node* condition = table.get("when")) read_condition(*condition);
  }

  const std::string& file_;
  std::string_view key_;
  Parameter parameter_;
};

toml::table parse_toml(const std::string& text, const std::string& name) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw_input_error("{}:{}: is not TOML: {}; a line is such as depth = {{ low = 3, high = 10 }}", name,
                      error.source().begin.line, printable_line(error.description(), 300));
  }
}

/// The keys of a table, in the order of the file. The library has them in alphabetical order.
std::vector<std::pair<const toml::key*, const toml::node*>> in_order(const toml::table& table) {
  std::vector<std::pair<const toml::key*, const toml::node*>> entries;
  for (const auto& [key, node] : table) entries.emplace_back(&key, &node);
  std::ranges::stable_sort(entries, [](const auto& a, const auto& b) {
    const toml::source_position at_a = a.first->source().begin;
    const toml::source_position at_b = b.first->source().begin;
    return std::pair(at_a.line, at_a.column) < std::pair(at_b.line, at_b.column);
  });
  return entries;
}

}  // namespace

Space Space::from_toml(const std::string& text, const std::string& name) {
  const toml::table table = parse_toml(text, name);
  std::vector<Parameter> parameters;
  std::map<std::string, std::uint32_t> lines;
  for (const auto& entry : in_order(table)) {
    parameters.push_back(ParameterReader(name, *entry.first).read(*entry.second));
    lines.insert_or_assign(parameters.back().name, entry.first->source().begin.line);
  }
  return Space(checked_parameters(std::move(parameters), [&](const std::string& parameter) {
    const auto line = lines.find(parameter);
    return line == lines.end() ? name + ": " : fmt::format("{}:{}: ", name, line->second);
  }));
}

}  // namespace podere::tune
