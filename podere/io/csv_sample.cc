#include "podere/io/csv_sample.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <utility>

#include "podere/base/error.h"
#include "podere/io/csv_field.h"
#include "podere/io/decimal.h"

namespace podere::io {
namespace {

constexpr std::size_t kSampleRows = 16;
constexpr std::size_t kSampleBytes = 1 << 16;

/// Up to kSampleRows rows of a text whose first line is `line`, and whether the last of them ends in it.
std::pair<CsvSample, bool> take_rows(std::string_view text, std::uint64_t line, const LineRules& rules) {
  CsvSample sample;
  const char* const end = text.data() + text.size();
  const char* counted = text.data();
  const auto note_line_of = [&](const char* row) {
    line += static_cast<std::uint64_t>(std::count(counted, row, '\n'));
    counted = row;
    sample.lines.push_back(line);
  };
  const char* p = find_row(text.data(), end, LinePlace::kBlank, rules);
  note_line_of(p);
  while (p != end && sample.rows.size() < kSampleRows) {
    const char* const row_end = find_row_end(p, end, LinePlace::kRow, rules);
    while (p != text.data() && p[-1] != '\n') --p;  // blanks before a row may be tabs between fields
    sample.rows.emplace_back(p, row_end == nullptr ? end : row_end);
    if (row_end == nullptr) return {std::move(sample), false};
    p = find_row(row_end, end, LinePlace::kBlank, rules);
    note_line_of(p);
  }
  return {std::move(sample), true};
}

bool is_text(std::string_view field, const MissingTokens& missing) {
  float value;
  return !missing.holds(field) && !parse_float(field, value);
}

/// How a delimiter splits rows.
enum class Split { kUneven, kEven, kEvenAndLastRowIsNumbers };

Split try_delimiter(const CsvSample& sample, FieldReader reader, const MissingTokens& missing) {
  std::vector<std::string> fields;
  try {
    for (const std::string& row : sample.rows) {
      const std::size_t n_fields = std::exchange(fields, reader.read_row(row)).size();
      if (fields.size() == 1 || (n_fields != 0 && fields.size() != n_fields)) return Split::kUneven;
    }
  } catch (const TextFault&) {
    return Split::kUneven;
  }
  const bool has_text = std::ranges::any_of(fields, [&](const auto& field) { return is_text(field, missing); });
  return has_text ? Split::kEven : Split::kEvenAndLastRowIsNumbers;
}

/// Whether rows parted by spaces have a field more than the first, which R's write.table leaves without a name for its
/// row names.
bool lacks_a_name(const CsvSample& sample, std::optional<char> comment, const MissingTokens& missing) {
  std::size_t n_names = 0;
  try {
    n_names = FieldReader(' ', comment).read_row(sample.rows.front()).size();
  } catch (const TextFault&) {
    return false;
  }
  const std::vector<Fields> below = rows_below(sample, ' ', comment);
  const auto has_one_more = [&](const Fields& fields) {
    return fields.size() == n_names + 1 && !is_text(fields.back(), missing);
  };
  return n_names > 1 && !below.empty() && std::ranges::all_of(below, has_one_more);
}

}  // namespace

CsvSample read_sample(const ByteSource& source, const std::string& name, std::uint64_t text_begin,
                      std::uint64_t n_lines_before, const LineRules& rules, std::size_t max_line_bytes) {
  std::string text;
  const auto cursor = source.cursor_at(text_begin);
  for (std::size_t wanted = kSampleBytes;; wanted *= 2) {
    const std::size_t had = text.size();
    text.resize(wanted);
    text.resize(had + cursor->read({text.data() + had, wanted - had}));
    const bool is_all = text.size() < wanted;
    if (text.starts_with("{\"") || text.starts_with("[{\"")) {
      throw_input_error(
          "{}: is JSON (a model?), and not lines of delimited text: save a table as CSV, as pandas does: "
          "pandas.read_json(FILE, lines=...).to_csv(CSV, index=False)",
          name);
    }
    if (is_all) text += '\n';
    auto [sample, is_whole] = take_rows(text, n_lines_before + 1, rules);
    if (is_all && sample.rows.empty()) throw_input_error("{}: is empty", name);
    // A quote that stays open takes in the end: the fault is reported when the row is read.
    if (!is_whole && (!is_all || sample.rows.size() > 1)) sample.rows.pop_back();
    const bool is_last_try = is_all || wanted >= max_line_bytes;
    if (sample.rows.size() > 1 || (is_last_try && !sample.rows.empty())) {
      for (std::string& row : sample.rows) {
        if (!row.ends_with('\n')) row += '\n';
      }
      return std::move(sample);
    }
    if (is_last_try) {
      throw_input_error("{}:{}: the line is longer than {} bytes; is this text, with a line for each row?", name,
                        sample.lines.front(), max_line_bytes);
    }
  }
}

std::vector<Fields> rows_below(const CsvSample& sample, char delimiter, std::optional<char> comment) {
  std::vector<Fields> rows;
  FieldReader reader(delimiter, comment);
  try {
    for (std::size_t i = 1; i < sample.rows.size(); ++i) rows.push_back(reader.read_row(sample.rows[i]));
  } catch (const TextFault&) {
    // Reported when the row is read.
  }
  return rows;
}

char find_delimiter(const CsvSample& sample, std::optional<char> comment, const MissingTokens& missing) {
  char best = ',';
  Split best_split = Split::kUneven;
  for (const char candidate : {'\t', ';', ',', '|', ' '}) {
    if (candidate == comment) continue;
    const Split split = try_delimiter(sample, FieldReader(candidate, comment), missing);
    if (split > best_split) std::tie(best, best_split) = std::pair(candidate, split);
  }
  if (best_split > Split::kUneven) return best;
  const std::string& first = sample.rows.front();
  const std::size_t found = first.substr(0, first.find('\n')).find_first_of("\t;,|");
  if (found != std::string::npos && first[found] != comment) return first[found];
  return lacks_a_name(sample, comment, missing) ? ' ' : ',';
}

}  // namespace podere::io
