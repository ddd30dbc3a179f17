#include "podere/io/csv_header.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <set>
#include <span>
#include <utility>

#include "podere/base/number.h"
#include "podere/base/printable.h"
#include "podere/io/csv_layout.h"
#include "podere/io/decimal.h"
#include "podere/table/features.h"

namespace podere::io {
namespace {

constexpr std::size_t kManyNames = 3;  // of texts over numbers; one or two may be words for missing values

constexpr bool kNames = true, kRow = false;  // what a line is

enum class FieldKind { kMissing, kNumber, kText };

FieldKind kind_of(std::string_view field, const MissingTokens& missing) {
  float value;
  if (missing.holds(field) || is_missing_word(field)) return FieldKind::kMissing;
  return parse_float(field, value) && !std::isnan(value) ? FieldKind::kNumber : FieldKind::kText;
}

bool is_whole(std::string_view number) {
  if (number.starts_with('-') || number.starts_with('+')) number.remove_prefix(1);
  return std::ranges::all_of(number, detail::is_digit);
}

/// The text with a 9 for each run of digits: what dates and identifiers of one kind have in common.
std::string pattern_of(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    if (!detail::is_digit(c)) {
      pattern += c;
    } else if (!pattern.ends_with('9')) {
      pattern += '9';
    }
  }
  return pattern;
}

/// What the lines below the first have in one column.
struct ColumnBelow {
  ColumnBelow(std::size_t column, const std::vector<Fields>& below, const MissingTokens& missing) {
    for (const Fields& fields : below) {
      if (column >= fields.size()) continue;
      const std::string& field = fields[column];
      const FieldKind kind = kind_of(field, missing);
      if (kind == FieldKind::kText) texts.push_back(field);
      if (kind == FieldKind::kNumber) {
        numbers.push_back(field);
        ++(is_whole(field) ? n_whole : n_real);
      }
    }
  }
  bool is_numeric() const { return texts.empty() && n_whole + n_real > 0; }
  bool is_real() const { return texts.empty() && n_whole == 0 && n_real > 0; }
  /// Whether `text` occurs, or has the digits where all the texts have theirs.
  bool looks_like(const std::string& text) const {
    if (texts.empty()) return false;
    if (std::ranges::find(texts, text) != texts.end()) return true;
    const std::string pattern = pattern_of(text);
    const auto is_same = [&](const std::string& other) { return pattern_of(other) == pattern; };
    return pattern.find('9') != std::string::npos && std::ranges::all_of(texts, is_same);
  }

  /// Whether the whole numbers may be of a kind with `number`: it occurs, or all are 0 or 1 as it is.
  bool counts_like(const std::string& number) const {
    return texts.empty() && n_real == 0 &&
           (std::ranges::find(numbers, number) != numbers.end() ||
            std::ranges::all_of(numbers, [](const std::string& other) { return other == "0" || other == "1"; }));
  }

  std::vector<std::string> texts;
  std::vector<std::string> numbers;
  std::size_t n_whole = 0;
  std::size_t n_real = 0;
};

/// Whether the numbers of a first line count up by 1: three or more, or 0 and 1.
bool are_numbered(const std::vector<std::string>& numbers) {
  std::optional<std::uint64_t> next;
  for (const std::string& number : numbers) {
    const auto n = parse_count(number);
    if (!n || (next && *n != *next)) return false;
    next = *n + 1;
  }
  return numbers.size() > 2 || (numbers.size() == 2 && numbers[0] == "0");
}

/// Whether a first line holds a name that was asked for, or all those of the features that the rows are for.
bool holds_wanted_name(const Fields& first, const CsvOptions& options) {
  const auto holds = [&](const std::string& name) { return std::ranges::find(first, name) != first.end(); };
  const auto is_name = [&](const std::string& column) { return !is_whole(column) && holds(column); };
  if ((options.label && is_name(*options.label)) || (options.weight && is_name(*options.weight))) return true;
  for (const auto* columns : {&options.columns, &options.categorical, &options.drop}) {
    if (std::ranges::any_of(*columns, is_name)) return true;
  }
  if (!options.coded_as) return false;
  const auto& known = options.coded_as->features;
  const bool may_be_row = known.size() < 3 && std::ranges::all_of(known, is_whole);
  return !known.empty() && !may_be_row && !table::is_made_up(known) && std::ranges::all_of(known, holds);
}

HeaderDecision doubtful(std::string doubt) { return {std::nullopt, std::move(doubt)}; }

/// Whether a column has a text in each row, all different: R's names of rows, over which stands nothing.
bool names_rows(const ColumnBelow& column, const std::vector<Fields>& below) {
  const std::set<std::string> different(column.texts.begin(), column.texts.end());
  return below.size() > 1 && different.size() == below.size();
}

/// Whether numbers count up by 1 from `base`.
bool count_up(std::span<const std::string> numbers, std::size_t base) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] != std::to_string(i + base)) return false;
  }
  return true;
}

std::vector<std::string> first_column(const std::vector<Fields>& rows) {
  std::vector<std::string> fields;
  for (const Fields& row : rows) fields.push_back(row[0]);
  return fields;
}

/// Whether the first column counts rows up by 1, from 0 or 1: an index.
bool counts_rows(const std::vector<Fields>& below) {
  const std::vector<std::string> fields = first_column(below);
  return below.size() > 1 && (count_up(fields, 0) || count_up(fields, 1));
}

/// Whether numbers rise, three or more: what tables of counts have over their columns.
bool rise(std::span<const std::string> numbers) {
  float last = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    float value = 0;
    if (!parse_float(numbers[i], value) || (i > 0 && !(value > last))) return false;
    last = value;
  }
  return numbers.size() > 2;
}

/// Whether a column holds numbers that are all different: what tables of counts have beside their rows.
bool numbers_rows(const ColumnBelow& column, const std::vector<Fields>& below) {
  const std::set<std::string> different(column.numbers.begin(), column.numbers.end());
  return below.size() > 1 && different.size() == below.size();
}

/// A line that counts up from `base`, behind an empty field over an index, or not: names, as pandas and R write them
/// for columns without any, unless the numbers are like those below.
HeaderDecision decide_counted(const Fields& first, std::size_t base, bool has_index, const std::vector<Fields>& below,
                              const std::vector<ColumnBelow>& columns) {
  if (below.empty() || std::ranges::find(below, first) != below.end()) return {kRow, {}};
  if (has_index && count_up(first_column(below), base)) return {kNames, {}};
  const std::size_t n_index = has_index ? 1 : 0, n = first.size() - n_index;
  std::size_t n_real = 0, n_alike = 0;
  for (std::size_t j = n_index; j < first.size(); ++j) {
    n_real += columns[j].is_real() ? 1 : 0;
    n_alike += columns[j].counts_like(first[j]) ? 1 : 0;
  }
  if ((n > 2 && n_real > 0) || (n > 1 && n_real == n)) return {kNames, {}};
  if (n < 3 && n_alike == n && columns[0].texts.empty()) return {kRow, {}};
  return doubtful("0, 1, 2, ... are how pandas numbers columns without names");
}

/// A line of numbers that rise, behind an empty field: names, as tables of counts have, if an index is below.
HeaderDecision decide_rising(const std::vector<Fields>& below, const ColumnBelow& index) {
  if (counts_rows(below)) return {kNames, {}};
  if (numbers_rows(index, below)) return doubtful("numbers that rise, and nothing over the first column");
  return {kRow, {}};
}

/// A line of numbers and missing values.
HeaderDecision decide_numbers(const Fields& first, const std::vector<Fields>& below,
                              const std::vector<ColumnBelow>& columns) {
  const bool has_index = first[0].empty() && first.size() > 1;
  if (has_index && names_rows(columns[0], below)) return {kNames, {}};
  const auto numbers = std::span(first).subspan(has_index ? 1 : 0);
  const std::size_t base = has_index && numbers[0] == "1" ? 1 : 0;  // R counts from 1
  if (count_up(numbers, base)) return decide_counted(first, base, has_index, below, columns);
  if (has_index && rise(numbers)) return decide_rising(below, columns[0]);
  return {kRow, {}};
}

}  // namespace

bool is_missing_word(std::string_view text) {
  static constexpr std::array kWords = {
      std::string_view(""),         std::string_view("na"),      std::string_view("n/a"),
      std::string_view("#na"),      std::string_view("#n/a"),    std::string_view("<na>"),
      std::string_view("#n/a n/a"), std::string_view("nan"),     std::string_view("-nan"),
      std::string_view("1.#ind"),   std::string_view("-1.#ind"), std::string_view("1.#qnan"),
      std::string_view("-1.#qnan"), std::string_view("null"),    std::string_view("(null)"),
      std::string_view("none"),     std::string_view("nil"),     std::string_view("nat"),
      std::string_view("\\n"),      std::string_view("missing"), std::string_view("-"),
      std::string_view("--"),       std::string_view("."),       std::string_view("?"),
      std::string_view("*")};
  std::string small(text.substr(0, 10));
  if (text.size() > small.size()) return false;
  for (char& c : small) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return std::ranges::find(kWords, small) != kWords.end();
}

HeaderDecision decide_header(const Fields& first, const std::vector<Fields>& below, const MissingTokens& missing,
                             const CsvOptions& options) {
  if (holds_wanted_name(first, options)) return {true, {}};
  std::vector<ColumnBelow> columns;
  std::vector<std::string> numbers;
  std::size_t n_names = 0;  // texts over numbers
  std::size_t n_alike = 0;  // texts like those below
  std::size_t n_texts = 0;
  std::size_t n_words = 0;  // for missing values
  bool has_real = false;    // real numbers below whole ones
  std::string name;
  for (std::size_t j = 0; j < first.size(); ++j) {
    const ColumnBelow& column = columns.emplace_back(j, below, missing);
    const FieldKind kind = kind_of(first[j], missing);
    if (kind == FieldKind::kNumber) {
      numbers.push_back(first[j]);
      has_real = has_real || column.is_real();
    } else if (kind == FieldKind::kText) {
      ++n_texts;
      if (column.looks_like(first[j])) ++n_alike;
      if (column.is_numeric() && n_names++ == 0) name = first[j];
    } else if (!first[j].empty()) {
      ++n_words;
    }
  }
  if (n_texts == 0) {
    const bool rows_have_no_names = options.coded_as && table::is_made_up(options.coded_as->features);
    if (numbers.empty() || rows_have_no_names) return {false, {}};
    return decide_numbers(first, below, columns);
  }
  std::size_t n_row_fields = n_alike + numbers.size();
  if (are_numbered(numbers) && !below.empty()) {  // numbers of columns, maybe, behind those that have names
    if (n_names == 0 && !has_real) return doubtful(fmt::format("{}, ... count up", printable(numbers[0])));
    n_row_fields = n_alike;
    ++n_names;
  }
  const bool has_index = first[0].empty() && counts_rows(below);
  const bool are_different = std::set<std::string>(first.begin(), first.end()).size() == first.size();
  const bool are_many = n_names >= kManyNames && n_names > 2 * n_alike && are_different;
  if (n_names > 0 && numbers.empty() && (has_index || are_many)) return {true, {}};
  if (n_names > 0 && n_row_fields > 0) {
    return doubtful(fmt::format("{} stands over numbers, other fields are like those below", printable(name)));
  }
  if (n_row_fields > 0) {
    const bool rows_may_have_texts =
        !options.categorical.empty() || (options.coded_as && !options.coded_as->categories.empty());
    if (below.empty() && !rows_may_have_texts) return doubtful("texts and numbers, and no line below");
    return {false, {}};
  }
  if (n_words > 0 && n_words >= n_names) return doubtful("it holds a word for a missing value");
  return {true, {}};
}

}  // namespace podere::io
