#include "podere/io/csv_layout.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/number.h"
#include "podere/base/printable.h"
#include "podere/io/csv_columns.h"
#include "podere/io/csv_field.h"
#include "podere/io/csv_header.h"
#include "podere/io/csv_sample.h"
#include "podere/io/decimal.h"
#include "podere/io/number_form.h"
#include "podere/io/rounded_wholes.h"
#include "podere/table/features.h"

namespace podere::io {
namespace {

constexpr std::string_view kDelimiters = ",;\t |";

/// Whether the first line names the columns. Throws InputError where that is in doubt.
bool find_header(const std::string& where, const std::vector<Fields>& below, const CsvLayout& layout,
                 const MissingTokens& missing, const CsvOptions& options) {
  const auto [is_header, doubt] = decide_header(layout.names, below, missing, options);
  if (is_header) return *is_header;
  if (!options.names.empty()) return false;
  throw_input_error(
      "{}: the line may name the columns or be a row: {}; choose with --header (names) or --no-header (a row), in "
      "Python header=True or False",
      where, doubt);
}

/// The feature of dates of which `name` is a part, and which.
std::optional<std::pair<std::size_t, DatePart>> find_date_part(const table::Schema& known, std::string_view name) {
  for (std::size_t part = 1; part < kDatePartNames.size(); ++part) {
    for (const std::size_t date : known.dates) {
      if (name == fmt::format("{}.{}", known.features[date], kDatePartNames[part])) {
        return std::pair(date, static_cast<DatePart>(part));
      }
    }
  }
  return std::nullopt;
}

/// What may begin a comment: nothing that numbers, names or delimiters have.
void check_comment(const CsvOptions& options) {
  if (!options.comment) return;
  const char c = *options.comment;
  if (std::string_view("#%!*/;|&@~$").find(c) != std::string_view::npos && c != options.delimiter) return;
  throw_input_error(
      "comments cannot begin with {}; one of # % ! * / ; | & @ ~ $, which is not the delimiter, is allowed",
      printable({&c, 1}));
}

/// Throws InputError for a first line that begins with # and does not have the fields of the lines below.
void refuse_comment(const std::string& where, const CsvSample& sample, const CsvOptions& options,
                    const MissingTokens& missing) {
  if (sample.rows.size() < 2 || !sample.rows.front().starts_with('#')) return;
  const CsvSample rest{{sample.rows.begin() + 1, sample.rows.end()}};
  const char delimiter = options.delimiter ? *options.delimiter : find_delimiter(rest, {}, missing);
  try {
    FieldReader reader(delimiter);
    const std::size_t n = reader.read_row(sample.rows[0]).size(), n_next = reader.read_row(sample.rows[1]).size();
    if (n == n_next) return;
    throw_input_error(
        "{}: the line begins with # and has {} field{}, the next has {}: leave comments out with --comment '#'", where,
        n, n == 1 ? "" : "s", n_next);
  } catch (const TextFault&) {
    // Reported when the lines are read.
  }
}

/// How many fields each row has, up to one that cannot be split.
std::vector<std::size_t> count_fields(const std::vector<std::string>& rows, char delimiter) {
  std::vector<std::size_t> counts;
  FieldReader reader(delimiter);
  try {
    for (const std::string& row : rows) counts.push_back(reader.read_row(row).size());
  } catch (const TextFault&) {
    // Reported when the lines are read.
  }
  return counts;
}

/// Whether a line has the number of rows, that of features and the names of classes if any, as in files of
/// scikit-learn.
bool counts_table(const Fields& first, std::size_t n_fields) {
  const auto is_name = [](const std::string& field) {
    float value = 0;
    return field.empty() || !parse_float(field, value);
  };
  return first.size() > 3 && parse_count(first[0]) && parse_count(first[1]) == n_fields - 1 &&
         std::all_of(first.begin() + 2, first.end(), is_name);
}

std::string advice_to_skip(std::uint64_t n_lines) {
  return fmt::format("leave out what is above the table with --skip {}", n_lines);
}

/// Throws InputError for first lines that are no part of the table: all rows below agree on another number of fields.
/// One field more or less may be an index without a name, or nothing behind a delimiter.
void refuse_title(const std::string& where, const CsvSample& sample, const CsvOptions& options,
                  const MissingTokens& missing) {
  constexpr std::size_t kLeastRows = 3;  // that agree
  if (sample.rows.size() <= kLeastRows) return;
  const CsvSample end{{sample.rows.end() - kLeastRows, sample.rows.end()}};
  const char delimiter = options.delimiter ? *options.delimiter : find_delimiter(end, options.comment, missing);
  const auto counts = count_fields(sample.rows, delimiter);
  if (counts.size() < sample.rows.size() || counts.back() < 2) return;
  const std::size_t n = counts.back();
  if (!options.header && counts_table(FieldReader(delimiter).read_row(sample.rows.front()), n)) {
    throw_input_error("{}: the line counts rows and features, as in files of scikit-learn: {}", where,
                      advice_to_skip(sample.lines[1] - 1));
  }
  const auto last_other = std::find_if(counts.rbegin(), counts.rend(), [&](std::size_t m) { return m != n; });
  const std::span before(counts.begin(), last_other.base());
  const auto is_near = [&](std::size_t m) { return m + 1 >= n && n + 1 >= m; };
  const bool has_room = before.size() + kLeastRows <= counts.size();
  if (!has_room || std::ranges::find(before, n) != before.end() || std::ranges::all_of(before, is_near)) return;
  const bool is_one = before.size() == 1;
  throw_input_error("{}: the first {} {} field{}, and the lines below have {}: {}", where,
                    is_one ? "line has" : fmt::format("{} lines have", before.size()),
                    is_one ? fmt::format("{}", counts[0]) : "other numbers of", is_one && counts[0] == 1 ? "" : "s", n,
                    advice_to_skip(sample.lines[before.size()] - 1));
}

/// The length of the byte order mark. Throws InputError for text that is not UTF-8.
std::uint64_t skip_byte_order_mark(const ByteSource& source, const std::string& name) {
  std::array<char, 3> bytes{};
  const std::string_view begin(bytes.data(), source.cursor_at(0)->read(bytes));
  if (begin.starts_with("\xff\xfe") || begin.starts_with("\xfe\xff")) {
    throw_input_error("{}: is UTF-16 text; save it as UTF-8", name);
  }
  return begin == "\xef\xbb\xbf" ? 3 : 0;
}

/// Excel's own first line, "sep=;", behind the byte order mark: steps over it and returns the delimiter it names.
std::optional<char> take_delimiter_line(const ByteSource& source, std::uint64_t& text_begin) {
  constexpr std::string_view kBegin = "sep=";
  std::array<char, 10> bytes{};
  std::string_view begin(bytes.data(), source.cursor_at(0)->read(bytes));
  begin.remove_prefix(std::min(static_cast<std::size_t>(text_begin), begin.size()));
  if (!begin.starts_with(kBegin)) return std::nullopt;
  const char delimiter = begin.size() > kBegin.size() ? begin[kBegin.size()] : '\0';
  begin.remove_prefix(std::min(kBegin.size() + 1, begin.size()));
  const std::size_t n_end = begin.starts_with("\r\n") ? 2 : begin.starts_with('\n') || begin.starts_with('\r') ? 1 : 0;
  if (n_end == 0 || kDelimiters.find(delimiter) == kDelimiters.npos) return std::nullopt;
  text_begin += kBegin.size() + 1 + n_end;
  return delimiter;
}

/// Behind the first `n` lines of what follows the first `begin` bytes. Throws InputError if there is nothing.
std::uint64_t skip_lines(const ByteSource& source, const std::string& name, std::uint64_t begin, std::uint64_t n) {
  const auto cursor = source.cursor_at(begin);
  std::vector<char> buffer(1 << 16);
  std::uint64_t n_left = n;
  for (std::uint64_t offset = begin;;) {
    const std::string_view text(buffer.data(), cursor->read(buffer));
    if (text.empty()) {
      throw_input_error(
          "{}: has no line behind the first {}, which --skip leaves out: name how many lines are "
          "above the table",
          name, n);
    }
    std::size_t at = 0;
    for (; n_left > 0 && at < text.size(); --n_left) {
      const std::size_t line_end = text.find('\n', at);
      at = std::min(line_end, text.size() - 1) + 1;
      if (line_end == text.npos) break;
    }
    if (at < text.size()) return offset + at;
    offset += text.size();
  }
}

/// Whether a column without a name holds the names or numbers of rows: all different, no real numbers.
bool are_row_names(const std::vector<Fields>& rows, const MissingTokens& missing) {
  std::set<std::string> seen;
  for (const Fields& fields : rows) {
    float value = 0;
    const bool is_number = parse_float(fields[0], value);
    const bool is_real = is_number && fields[0].find_first_not_of("+-0123456789") != std::string::npos;
    if (missing.holds(fields[0]) || is_real || !seen.insert(fields[0]).second) return false;
  }
  return !rows.empty();
}

/// Finds what a first line that names columns has no names for: an index, as R's write.table and pandas write it, and
/// what would be behind a delimiter at the end of lines. Changes the names to those of all fields of a line.
void find_nameless(const std::vector<Fields>& below, const MissingTokens& missing, const CsvOptions& options,
                   CsvLayout& layout) {
  std::vector<std::string>& names = layout.names;
  const std::size_t n = names.size();
  const auto count = [&](std::size_t n_fields) {
    return std::ranges::count_if(below, [&](const Fields& fields) { return fields.size() == n_fields; });
  };
  const auto is_known = [&](const std::string& name) {
    return options.coded_as && std::ranges::find(options.coded_as->features, name) != options.coded_as->features.end();
  };
  // Of n fields, or one more with nothing in it.
  const auto fits = [&](std::size_t n_fields) {
    return !below.empty() && std::ranges::all_of(below, [&](const Fields& fields) {
      return fields.size() == n_fields || (fields.size() == n_fields + 1 && fields.back().empty());
    });
  };
  const bool lacks_a_name = std::cmp_equal(count(n + 1), below.size()) && are_row_names(below, missing);
  if (fits(n) && count(n + 1) > 0) {
    layout.ends_with_delimiter = true;
  } else if (n > 1 && names.back().empty() && fits(n - 1) && !is_known(fmt::format("f{}", n - 1))) {
    layout.ends_with_delimiter = true;
    names.pop_back();
  } else if (lacks_a_name) {
    names.insert(names.begin(), "");
    layout.index = 0;
    return;
  }
  const bool is_nameless = names[0].empty() || names[0] == "Unnamed: 0";
  const bool others_have_names =
      std::any_of(names.begin() + 1, names.end(), [](const std::string& name) { return !name.empty(); });
  if (is_nameless && others_have_names && are_row_names(below, missing) &&
      !is_known(names[0].empty() ? "f0" : names[0])) {
    layout.index = 0;
  }
}

/// Calls columns without a name by position: f3, or f3.1 where another is called so.
void name_nameless(CsvLayout& layout) {
  const std::set<std::string> given =
      layout.has_header ? std::set<std::string>(layout.names.begin(), layout.names.end()) : std::set<std::string>();
  for (std::size_t i = 0; i < layout.names.size(); ++i) {
    if (layout.has_header && !layout.names[i].empty()) continue;
    std::string name = fmt::format("f{}", i);
    for (std::size_t n = 1; given.contains(name); ++n) name = fmt::format("f{}.{}", i, n);
    layout.names[i] = name;
  }
}

/// Puts what folders say behind the names and the fields of the first rows.
void add_folder_fields(const std::string& where, const FolderValues& folders, std::vector<Fields>& rows,
                       CsvLayout& layout) {
  const std::size_t n_fields = layout.names.size();
  for (const auto& [name, value] : folders) {
    if (std::ranges::find(layout.names, name) != layout.names.end()) {
      throw_input_error("{}: {} is the name of a column, and of a folder too", where, printable(name));
    }
    layout.names.push_back(name);
    for (Fields& fields : rows) {
      if (layout.n_folder_fields == 0) fields.resize(n_fields);
      fields.push_back(value);
    }
    ++layout.n_folder_fields;
  }
}

/// Calls the fields of a line as the option has it. Throws InputError if it does not fit.
void take_names(const std::string& where, const std::vector<std::string>& names, CsvLayout& layout) {
  const std::size_t n_fields = layout.names.size();
  const bool fits_but_index = layout.index && names.size() + 1 == n_fields;
  if (names.size() != n_fields && !fits_but_index) {
    throw_input_error("{}: {} names are given, and the line has {} fields", where, names.size(), n_fields);
  }
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (name.empty()) throw_input_error("{}: a name that is given is empty", where);
    if (!seen.insert(name).second) throw_input_error("{}: the name {} is given twice", where, printable(name));
  }
  if (!fits_but_index) layout.index.reset();
  std::ranges::copy(names, layout.names.end() - static_cast<std::ptrdiff_t>(names.size()));
}

}  // namespace

std::vector<CsvLayout::Renamed> rename_repeated(std::vector<std::string>& names) {
  const std::set<std::string> given(names.begin(), names.end());
  std::set<std::string> taken;
  std::map<std::string, std::size_t> n_repeated;
  std::vector<CsvLayout::Renamed> renamed;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (taken.insert(names[i]).second) continue;
    std::string other;
    do {
      other = fmt::format("{}.{}", names[i], ++n_repeated[names[i]]);
    } while (given.contains(other) || !taken.insert(other).second);
    renamed.push_back({i, std::exchange(names[i], other)});
  }
  return renamed;
}

void expect_forms(const std::vector<Fields>& rows, const MissingTokens& missing, const CsvOptions& options,
                  CsvLayout& layout) {
  const std::size_t n_columns = layout.fields.size();
  const auto comma = options.decimal == ',' ? std::optional(kDecimalComma) : std::nullopt;
  layout.forms.assign(n_columns, comma);
  layout.holds_dates.assign(n_columns, std::nullopt);
  layout.date_parts.assign(n_columns, DatePart::kNone);
  layout.sample_texts.assign(n_columns, {});
  for (std::size_t k = 0; k < n_columns; ++k) {
    SampleTexts& texts = layout.sample_texts[k];
    std::array<std::size_t, kNumberForms> n_of{};
    for (const Fields& fields : rows) {
      float value = 0;
      const std::size_t field = layout.fields[k];
      if (field >= fields.size() || missing.holds(fields[field])) continue;
      auto& examples = texts.examples;
      const bool is_new = std::ranges::find(examples, fields[field]) == examples.end();
      if (is_new && examples.size() < SampleTexts::kMostExamples) examples.push_back(fields[field]);
      texts.are_whole = texts.are_whole && is_whole_number(fields[field]);
      if (parse_float(fields[field], value)) continue;
      ++texts.n;
      const std::uint64_t forms = forms_of(fields[field]);
      for (std::size_t form = 0; form < kNumberForms; ++form) n_of[form] += forms >> form & 1;
    }
    const std::size_t most = *std::ranges::max_element(n_of);
    for (std::size_t form = 0; form < kNumberForms && most > 0 && 2 * most >= texts.n; ++form) {
      if (n_of[form] == most) texts.forms |= std::uint64_t{1} << form;
    }
  }
  if (!options.coded_as) return;
  const table::Schema& known = *options.coded_as;
  const auto places = table::find_features(known, layout.schema.features);
  for (std::size_t j = 0; j < places.size(); ++j) {
    if (!places[j]) continue;
    layout.holds_dates[*places[j]] = known.dates.contains(j);
    if (!known.dates.contains(j)) continue;
    layout.forms[*places[j]] = kFirstDate;
    layout.schema.dates.insert(*places[j]);
  }
  for (std::size_t j = 0; j < places.size(); ++j) {
    const auto wanted = find_date_part(known, known.features[j]);
    if (!places[j] && wanted && places[wanted->first]) add_date_part(*places[wanted->first], wanted->second, layout);
  }
}

void add_date_part(std::size_t date, DatePart part, CsvLayout& layout) {
  const std::size_t n_features = layout.schema.features.size();
  const auto at = static_cast<std::ptrdiff_t>(n_features);
  const std::string name =
      fmt::format("{}.{}", layout.schema.features[date], kDatePartNames[static_cast<std::size_t>(part)]);
  const auto has = [&](const std::vector<std::string>& names) { return std::ranges::find(names, name) != names.end(); };
  if (has(layout.names) || has(layout.schema.features)) return;
  layout.schema.features.push_back(name);
  layout.fields.insert(layout.fields.begin() + at, layout.fields[date]);
  layout.forms.insert(layout.forms.begin() + at, layout.forms[date]);
  layout.date_parts.insert(layout.date_parts.begin() + at, part);
  layout.sample_texts.insert(layout.sample_texts.begin() + at, SampleTexts());
  layout.holds_dates.insert(layout.holds_dates.begin() + at, std::nullopt);
}

void leave_out_features(const std::set<std::size_t>& places, CsvLayout& layout) {
  table::Schema& schema = layout.schema;
  const CsvLayout before = layout;
  const auto stays = [&](std::size_t k) { return !places.contains(k); };
  for (const std::size_t k : places) layout.left_out.push_back({before.names[before.fields[k]], "texts"});
  schema.features.clear();
  schema.categories.clear();
  schema.dates.clear();
  layout.fields.clear();
  layout.forms.clear();
  layout.date_parts.clear();
  layout.sample_texts.clear();
  layout.holds_dates.clear();
  for (std::size_t k = 0; k < before.fields.size(); ++k) {
    if (!stays(k)) continue;
    const std::size_t place = layout.fields.size();
    layout.fields.push_back(before.fields[k]);
    layout.forms.push_back(before.forms[k]);
    layout.date_parts.push_back(before.date_parts[k]);
    layout.sample_texts.push_back(before.sample_texts[k]);
    layout.holds_dates.push_back(before.holds_dates[k]);
    if (k >= before.schema.features.size()) continue;
    schema.features.push_back(before.schema.features[k]);
    const auto categories = before.schema.categories.find(k);
    if (categories != before.schema.categories.end()) schema.categories[place] = categories->second;
    if (before.schema.dates.contains(k)) schema.dates.insert(place);
  }
}

CsvLayout find_layout(const ByteSource& source, const std::string& name, const CsvOptions& options,
                      const FolderValues& folders) {
  if (options.delimiter && kDelimiters.find(*options.delimiter) == kDelimiters.npos) {
    throw_input_error("the delimiter {} is not allowed; comma, semicolon, tab, space and | are",
                      printable({&*options.delimiter, 1}));
  }
  check_comment(options);
  if (options.chunk_bytes == 0) throw_input_error("chunk_bytes is 0; at least 1 is needed");
  const MissingTokens missing(options.missing);
  CsvLayout layout;
  layout.text_begin = skip_byte_order_mark(source, name);
  if (options.skip > 0) layout.text_begin = skip_lines(source, name, layout.text_begin, options.skip);
  const auto named_delimiter = options.skip > 0 ? std::nullopt : take_delimiter_line(source, layout.text_begin);
  const std::uint64_t n_lines_before = named_delimiter ? 1 : options.skip;
  const auto chosen = options.delimiter ? options.delimiter : named_delimiter;
  layout.rules = {.tab_is_blank = chosen != '\t', .comment = options.comment};
  CsvSample sample = read_sample(source, name, layout.text_begin, n_lines_before, layout.rules, options.max_line_bytes);
  layout.delimiter = chosen ? *chosen : find_delimiter(sample, options.comment, missing);
  if (layout.delimiter == '\t' && layout.rules.tab_is_blank) {
    layout.rules.tab_is_blank = false;
    sample = read_sample(source, name, layout.text_begin, n_lines_before, layout.rules, options.max_line_bytes);
  }
  const std::string where = fmt::format("{}:{}", name, sample.lines.front());
  if (!options.comment) {
    refuse_comment(where, sample, options, missing);
    refuse_title(where, sample, options, missing);
  }
  try {
    layout.names = FieldReader(layout.delimiter, options.comment).read_row(sample.rows.front());
  } catch (const TextFault& fault) {
    throw_input_error("{}: {}", where, fault.message);
  }
  std::vector<Fields> below = rows_below(sample, layout.delimiter, options.comment);
  layout.found_header = !options.header;
  layout.has_header = options.header ? *options.header : find_header(where, below, layout, missing, options);
  if (layout.has_header) {
    find_nameless(below, missing, options, layout);
  } else {
    below.push_back(layout.names);
  }
  name_nameless(layout);
  if (!options.names.empty()) take_names(where, options.names, layout);
  for (std::size_t i = 0; i < layout.names.size(); ++i) {
    if (is_utf8(layout.names[i])) continue;
    throw_input_error("{}: the name of column {} ({}) is not UTF-8; save the file as UTF-8", where, i,
                      printable(layout.names[i]));
  }
  layout.renamed = rename_repeated(layout.names);
  layout.saw_rows = !below.empty();
  add_folder_fields(where, folders, below, layout);
  choose_columns(name, where, below, missing, options, layout);
  expect_forms(below, missing, options, layout);
  return layout;
}

}  // namespace podere::io
