#include "podere/cli/print.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "podere/base/error.h"
#include "podere/base/json.h"
#include "podere/base/printable.h"
#include "podere/jobs/job.h"

namespace podere::cli {
namespace {

/// Characters, not bytes, of UTF-8 text.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

std::string with_commas(std::uint64_t n) {
  std::string digits = std::to_string(n);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string duration(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  if (seconds < 60) return fmt::format("{:.2f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::lround(seconds));
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string megabytes(std::uint64_t bytes) { return fmt::format("{:.0f} MB", static_cast<double>(bytes) / 1e6); }

std::string number(double value) { return std::isnan(value) ? "-" : fmt::format("{:.6g}", value); }

std::string number(const Json& value) { return value.is_number() ? number(value.get<double>()) : "-"; }

std::string in_words(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::string measure_in_words(const std::string& name) {
  if (name == "auc") return "AUC";
  if (name == "mean_poisson_deviance") return "Poisson deviance";
  if (name == "root_mean_squared_error") return "RMSE";
  if (name == "mean_absolute_error") return "MAE";
  if (name == "r2") return "R²";
  if (name == "bic") return "BIC";
  if (name == "aic") return "AIC";
  return in_words(name);
}

std::string bars(std::span<const std::uint64_t> counts) {
  static constexpr std::array<const char*, 9> blocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::uint64_t most = counts.empty() ? 0 : std::ranges::max(counts);
  std::string text;
  for (const std::uint64_t count : counts) {
    // Rounded up: a bin that holds anything is seen.
    const double share = most == 0 ? 0 : static_cast<double>(count) / static_cast<double>(most);
    text += blocks[static_cast<std::size_t>(std::ceil(share * 8))];
  }
  return text;
}

namespace {

/// Of a model that looks at no labels.
std::string no_label_text(const Json& label) {
  if (label.contains("compared_with")) {
    return fmt::format("{}, which scores are compared with", label.at("compared_with").get<std::string>());
  }
  if (label.contains("not_compared_with")) {
    return fmt::format("{} has other values than 0 and 1, so scores are compared with none",
                       label.at("not_compared_with").get<std::string>());
  }
  if (!label.contains("column")) return "none is looked at";
  if (!label.at("column").is_null()) return fmt::format("{}, which is left out", label.at("column").get<std::string>());
  const auto names = label.at("called_as_labels").get<std::vector<std::string>>();
  if (names.empty()) return "none: all columns are features";
  return fmt::format("none: all columns are features, {} too (if it is the label: --label {})", printable_list(names),
                     names.front());
}

}  // namespace

std::string label_text(const Json& label) {
  constexpr std::size_t kMostListed = 10;
  if (label.at("kind") == "none") return no_label_text(label);
  const auto chosen = label.at("chosen").get<std::string>();
  std::string text = label.at("column").get<std::string>();
  if (label.at("position").is_number()) {
    text += fmt::format(" (column {}{})", label.at("position").get<std::uint64_t>(),
                        chosen == "first"   ? ", the first"
                        : chosen == "last"  ? ", the last"
                        : chosen == "name"  ? ", by its name"
                        : chosen == "model" ? ", as in the model"
                                            : "");
  }
  const auto classes = label.find("classes");
  if (classes == label.end()) {
    return fmt::format("{}: {} from {} to {}", text, label.at("kind").get<std::string>(), number(label.at("min")),
                       number(label.at("max")));
  }
  if (classes->at(0).is_string()) {
    const auto texts = classes->get<std::vector<std::string>>();
    text += fmt::format(": {} classes, {}", texts.size(), printable_list(texts, kMostListed));
    return texts.size() == 2 ? text + fmt::format("; positive is {}", printable(texts[1])) : text;
  }
  const auto values = classes->get<std::vector<double>>();
  text += fmt::format(": {} class{}, ", values.size(), values.size() == 1 ? "" : "es");
  return text + (values.size() > kMostListed ? fmt::format("{} to {}", number(values.front()), number(values.back()))
                                             : fmt::format("{}", fmt::join(values, ", ")));
}

TextTable::TextTable(std::vector<std::string> header, bool all_left) : all_left_(all_left) {
  if (!header.empty()) rows_.push_back(std::move(header));
}

void TextTable::add(std::vector<std::string> row) {
  // A name may hold what would break lines or reach the terminal as an order.
  for (std::string& cell : row) {
    std::ranges::replace_if(
        cell, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  }
  rows_.push_back(std::move(row));
}

std::string TextTable::text() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t j = 0; j < row.size(); ++j) widths[j] = std::max(widths[j], width(row[j]));
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t j = 0; j < row.size(); ++j) {
      const std::string padding(widths[j] - width(row[j]), ' ');
      line += j == 0 ? "" : "  ";
      line += j == 0 || all_left_ ? row[j] + padding : padding + row[j];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string facts_text(const std::vector<std::pair<std::string, Json>>& facts) {
  TextTable table({}, true);
  for (const auto& [name, value] : facts) table.add({name, value_text(value)});
  return table.text();
}

std::string value_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (!value.is_number_integer()) return number(value);
  const auto n = value.get<std::uint64_t>();
  return !value.is_number_unsigned() && value.get<std::int64_t>() < 0 ? "-" + with_commas(0 - n) : with_commas(n);
}

bool print(const std::string& text, int descriptor) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t n = write(descriptor, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EPIPE) return false;
    if (n < 0) {
      throw_input_error("standard {}: {}", descriptor == STDOUT_FILENO ? "output" : "error", std::strerror(errno));
    }
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

bool print_json(const Json& json, int descriptor) { return print(to_text(json) + "\n", descriptor); }

void print_error(const std::string& message) {
  std::string line;
  for (const char c : message) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {  // data may hold anything
      line += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      line += c;
    }
  }
  std::fprintf(stderr, "podere: %s\n", line.c_str());
}

void warn_of_unknown_categories(const Json& facts) {
  std::string columns;
  const auto unknown = facts.find("unknown_categories");
  if (unknown == facts.end()) return;
  for (const auto& [name, n] : unknown->get_ref<const Json::object_t&>()) {
    columns +=
        fmt::format("{}{} of column '{}'", columns.empty() ? "" : ", ", with_commas(n.get<std::uint64_t>()), name);
  }
  if (!columns.empty()) print_error("categories not seen in training count as missing: " + columns);
}

}  // namespace podere::cli
