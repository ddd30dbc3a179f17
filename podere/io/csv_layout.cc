#include "podere/io/csv_layout.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/io/csv_field.h"
#include "podere/io/csv_header.h"
#include "podere/io/decimal.h"
#include "podere/table/features.h"

namespace podere::io {
namespace {

constexpr std::size_t kSampleLines = 16;
constexpr std::size_t kSampleBytes = 1 << 16;

/// The first lines, whole: up to kSampleLines of them, and two where there are and neither is too long. Ends with a
/// line end.
std::string read_sample(const ByteSource& source, const std::string& name, std::size_t max_line_bytes) {
  std::string sample;
  const auto cursor = source.cursor_at(0);
  for (std::size_t wanted = kSampleBytes;; wanted *= 2) {
    const std::size_t had = sample.size();
    sample.resize(wanted);
    sample.resize(had + cursor->read({sample.data() + had, wanted - had}));
    const bool is_all = sample.size() < wanted;
    if (sample.starts_with("{\"")) throw_input_error("{}: is JSON (a model?), and not lines of delimited text", name);
    if (is_all) sample += '\n';
    const char* const end = sample.data() + sample.size();
    const char* p = sample.data();
    std::size_t n_lines = 0;
    for (; n_lines < kSampleLines; ++n_lines) {
      const char* const next = find_line_end(p, end, false);
      if (next == nullptr) break;
      p = next;
    }
    // A quote that stays open swallows the end: the fault is reported when the line is read.
    if (p == sample.data() && is_all) p = end;
    if (n_lines > 1 || (p > sample.data() && (is_all || wanted >= max_line_bytes))) {
      sample.resize(static_cast<std::size_t>(p - sample.data()));
      if (sample.back() != '\n') sample += '\n';
      return sample;
    }
    if (wanted >= max_line_bytes) {
      throw_input_error("{}:1: the line is longer than {} bytes; is this text, with a line for each row?", name,
                        max_line_bytes);
    }
  }
}

bool is_text(std::string_view field, const MissingTokens& missing) {
  float value;
  return !missing.holds(field) && !parse_float(field, value);
}

/// The fields of the lines of a sample below the first, up to one that cannot be split or is blank.
std::vector<Fields> lines_below(std::string_view sample, char delimiter) {
  std::vector<Fields> lines;
  FieldReader reader(delimiter);
  const char* const end = sample.data() + sample.size();
  try {
    for (const char* p = find_line_end(sample.data(), end, false); p != nullptr && p < end;) {
      const char* const next = find_line_end(p, end, false);
      if (next == nullptr || (FieldReader::ends_line(*p) && next == end)) break;
      lines.push_back(reader.read_line(p, end));
      p = next;
    }
  } catch (const TextFault&) {
    // Reported when the line is read.
  }
  return lines;
}

/// Whether the first line names the columns. Throws InputError where that is in doubt.
bool find_header(const std::string& name, std::string_view sample, const CsvLayout& layout,
                 const MissingTokens& missing, const CsvOptions& options) {
  const auto [is_header, doubt] = decide_header(layout.names, lines_below(sample, layout.delimiter), missing, options);
  if (is_header) return *is_header;
  throw_input_error(
      "{}:1: the line may name the columns or be a row: {}; choose with --header (names) or --no-header (a row), in "
      "Python header=True or False",
      name, doubt);
}

/// How a delimiter splits the lines of a sample.
enum class Split { kUneven, kEven, kEvenAndLastLineIsNumbers };

Split try_delimiter(std::string_view sample, char delimiter, const MissingTokens& missing) {
  FieldReader reader(delimiter);
  std::vector<std::string> fields;
  const char* const end = sample.data() + sample.size();
  try {
    for (const char* p = sample.data(); p < end;) {
      const char* const next = find_line_end(p, end, false);
      if (next == nullptr || FieldReader::ends_line(*p)) break;  // an open quote; blank lines at the end
      const std::size_t n_fields = std::exchange(fields, reader.read_line(p, end)).size();
      if (fields.size() == 1 || (n_fields != 0 && fields.size() != n_fields)) return Split::kUneven;
      p = next;
    }
  } catch (const TextFault&) {
    return Split::kUneven;
  }
  if (fields.empty()) return Split::kUneven;
  const bool has_text = std::any_of(fields.begin(), fields.end(), [&](const auto& f) { return is_text(f, missing); });
  return has_text ? Split::kEven : Split::kEvenAndLastLineIsNumbers;
}

/// Whether lines of spaces have a field more than the first, which R's write.table leaves without a name for its row
/// names. Reported when the second line is read.
bool lacks_a_name(std::string_view sample, const MissingTokens& missing) {
  std::size_t n_names = 0;
  try {
    n_names = FieldReader(' ').read_line(sample.data(), sample.data() + sample.size()).size();
  } catch (const TextFault&) {
    return false;
  }
  const std::vector<Fields> below = lines_below(sample, ' ');
  const auto has_one_more = [&](const Fields& fields) {
    return fields.size() == n_names + 1 && !is_text(fields.back(), missing);
  };
  return n_names > 1 && !below.empty() && std::ranges::all_of(below, has_one_more);
}

/// The candidate that does best at splitting every line into the same number of fields, more than one. Where none does,
/// one that splits the first line (a line further down is at fault, which is reported when it is read), or there is one
/// field.
char find_delimiter(std::string_view sample, const MissingTokens& missing) {
  char best = ',';
  Split best_split = Split::kUneven;
  for (const char candidate : {'\t', ';', ',', '|', ' '}) {
    const Split split = try_delimiter(sample, candidate, missing);
    if (split > best_split) std::tie(best, best_split) = std::pair(candidate, split);
  }
  if (best_split > Split::kUneven) return best;
  const std::size_t found = sample.substr(0, sample.find('\n')).find_first_of("\t;,|");
  if (found != std::string_view::npos) return sample[found];
  return lacks_a_name(sample, missing) ? ' ' : ',';
}

/// Positions of the columns that options ask for, by name or position.
class ColumnFinder {
 public:
  ColumnFinder(const std::string& file, const CsvLayout& layout)
      : file_(file), names_(layout.names), renamed_(layout.renamed) {}

  std::size_t find(const std::string& wanted, std::string_view what) const {
    const auto found = std::find(names_.begin(), names_.end(), wanted);
    if (found != names_.end()) {
      const auto again = std::ranges::find(renamed_, wanted, &CsvLayout::Renamed::was);
      if (again != renamed_.end()) {
        throw_input_error("{}:1: the {} column {} is ambiguous: positions {} and {} have that name; give a position",
                          file_, what, printable(wanted), found - names_.begin(), again->position);
      }
      return static_cast<std::size_t>(found - names_.begin());
    }
    const bool is_position =
        !wanted.empty() && wanted.size() < 10 && std::all_of(wanted.begin(), wanted.end(), detail::is_digit);
    if (is_position && std::stoul(wanted) < names_.size()) return std::stoul(wanted);
    throw_input_error("{}:1: there is no {} column {}; there are {}", file_, what, printable(wanted), known_names());
  }

 private:
  std::string known_names() const {
    constexpr std::size_t kMaxNames = 40;
    std::vector<std::string> known;
    for (const std::string& name : names_) {
      if (known.size() == kMaxNames) break;
      known.push_back(printable(name));
    }
    return fmt::format("{}{} (positions 0 to {})", fmt::join(known, ", "), names_.size() > kMaxNames ? ", ..." : "",
                       names_.size() - 1);
  }

  const std::string& file_;
  const std::vector<std::string>& names_;
  const std::vector<CsvLayout::Renamed>& renamed_;
};

/// Marks the features that hold categories.
void choose_categories(const ColumnFinder& finder, const std::string& file, const CsvOptions& options,
                       CsvLayout& layout) {
  std::map<std::size_t, table::Dictionary>& categories = layout.schema.categories;
  if (options.coded_as) {
    const table::Schema& known = *options.coded_as;
    const auto places = table::find_features(known, layout.schema.features);
    for (const auto& [feature, dictionary] : known.categories) {
      if (places[feature]) categories[*places[feature]] = dictionary;
    }
    return;
  }
  layout.finds_categories = true;
  const auto features = std::span(layout.fields).first(layout.schema.features.size());
  for (const std::string& column : options.categorical) {
    const std::size_t field = finder.find(column, "categorical");
    if (layout.label_field() == field) {
      layout.finds_classes = layout.chose_classes = true;
      continue;
    }
    const auto place = std::ranges::find(features, field);
    if (place == features.end()) {
      throw_input_error("{}:1: the categorical column {} is neither a feature nor the label", file, printable(column));
    }
    categories[static_cast<std::size_t>(place - features.begin())].emplace();
  }
}

/// What the fields of a column look like in a sample: the later, the likelier it is a label.
enum class Looks { kReal, kWhole, kText };

/// How columns look [columns], with `first_line` if it is a row. Numbers with a decimal comma are no texts: they are to
/// be refused.
std::vector<Looks> find_looks(std::string_view sample, const Fields& first_line, const CsvLayout& layout,
                              const MissingTokens& missing) {
  std::vector<Fields> rows = lines_below(sample, layout.delimiter);
  if (!layout.has_header) rows.push_back(first_line);
  std::vector<Looks> looks(first_line.size(), Looks::kWhole);
  for (const Fields& fields : rows) {
    for (std::size_t i = 0; i < std::min(fields.size(), looks.size()); ++i) {
      float value = 0;
      const bool is_number = parse_float(fields[i], value);
      if (looks[i] == Looks::kText || missing.holds(fields[i])) continue;
      if (!is_number && !has_decimal_comma(fields[i])) looks[i] = Looks::kText;
      if (is_number && value != std::floor(value)) looks[i] = Looks::kReal;
    }
  }
  return looks;
}

/// Whether the label's fields are texts: its classes are then to be found, or those of the model.
/// Throws InputError for a positive class of numbers.
void choose_classes(const std::string& file, const std::vector<Looks>& looks, const CsvOptions& options,
                    CsvLayout& layout) {
  const std::optional<std::size_t> label = layout.label_field();
  const bool has_features = layout.names.size() > 1;  // else most likely no delimiter was found
  if (!label || !has_features) return;
  if (options.coded_as) {
    layout.schema.classes = options.coded_as->classes;
  } else if (looks[*label] == Looks::kText && !options.counts_texts) {
    layout.finds_classes = true;
  }
  if (options.positive && !layout.has_text_label()) {
    throw_input_error(
        "{}: the labels of {} are numbers, of which class 1 is the positive one; to choose another, take them as texts "
        "with --categorical {}",
        file, printable(*layout.schema.label), *layout.schema.label);
  }
}

/// Of the columns that may be features those that `known` names, where both name any: the others may hold anything.
void leave_to_known(const table::Schema& known, const CsvLayout& layout, std::vector<std::size_t>& fields) {
  if (table::is_made_up(known.features) || table::is_made_up(layout.names)) return;
  const std::unordered_set<std::string> wanted(known.features.begin(), known.features.end());
  const auto is_wanted = [&](std::size_t field) { return wanted.contains(layout.names[field]); };
  if (std::ranges::any_of(fields, is_wanted)) std::erase_if(fields, std::not_fn(is_wanted));
}

/// The column of the label, and why it is. Throws InputError where several have one of the usual names.
std::optional<std::pair<std::size_t, LabelChoice>> find_label(const ColumnFinder& finder, const std::string& file,
                                                              const CsvOptions& options,
                                                              const std::set<std::size_t>& used,
                                                              const std::vector<Looks>& looks, bool last_is_free,
                                                              const CsvLayout& layout) {
  if (options.label) return std::pair(finder.find(*options.label, "label"), LabelChoice::kOption);
  if (!options.needs_label) return std::nullopt;
  if (options.coded_as && options.coded_as->label) {
    const std::string& known = *options.coded_as->label;
    if (std::ranges::find(layout.names, known) != layout.names.end()) {
      return std::pair(finder.find(known, "label"), LabelChoice::kModel);
    }
    if (options.coded_as->classes.empty()) return std::pair(0UL, LabelChoice::kFirst);
  }
  std::vector<std::size_t> named = usual_labels(layout.names);
  std::erase_if(named, [&](std::size_t i) { return used.contains(i); });
  if (named.size() == 1) return std::pair(named[0], LabelChoice::kName);
  const std::size_t last = layout.names.size() - 1;
  if (named.empty() && last_is_free && looks[last] > looks[0]) return std::pair(last, LabelChoice::kLast);
  if (named.empty() || named[0] == 0) return std::pair(0UL, LabelChoice::kFirst);
  throw_input_error("{}:1: the label may be {} or {}: choose one with --label", file, printable(layout.names[named[0]]),
                    printable(layout.names[named[1]]));
}

/// The columns to be left out. What rows are for may have been made without columns that this file has not.
std::set<std::size_t> find_dropped(const ColumnFinder& finder, const CsvOptions& options, const CsvLayout& layout) {
  std::set<std::size_t> dropped;
  for (const std::string& column : options.drop) {
    const bool is_there = std::ranges::find(layout.names, column) != layout.names.end();
    const bool is_position = std::ranges::all_of(column, detail::is_digit);
    if (options.coded_as && !is_there && !is_position) continue;
    dropped.insert(finder.find(column, "dropped"));
  }
  return dropped;
}

void choose_columns(const std::string& file, const CsvOptions& options, const std::vector<Looks>& looks,
                    CsvLayout& layout) {
  const ColumnFinder finder(file, layout);
  if (!options.columns.empty() && !options.drop.empty()) {
    throw_input_error("{}: columns to take and columns to drop are both given; give one of --columns and --drop", file);
  }
  const std::set<std::size_t> dropped = find_dropped(finder, options, layout);
  std::optional<std::size_t> weight;
  if (options.weight) weight = finder.find(*options.weight, "weight");
  for (const std::string& column : options.columns) layout.fields.push_back(finder.find(column, "feature"));
  std::set<std::size_t> used = dropped;
  used.insert(layout.fields.begin(), layout.fields.end());
  if (weight) used.insert(*weight);
  const std::size_t last = looks.size() - 1;
  const bool last_is_free = !used.contains(last) && std::ranges::none_of(options.categorical, [&](const auto& column) {
    return finder.find(column, "categorical") == last;
  });
  const auto chosen_label = find_label(finder, file, options, used, looks, last_is_free, layout);
  const auto label = chosen_label ? std::optional(chosen_label->first) : std::nullopt;
  if (chosen_label) layout.label_choice = chosen_label->second;
  layout.last_may_be_label = label == 0 && last > 0 && last_is_free && looks[last] != Looks::kReal;
  if (options.columns.empty()) {
    for (std::size_t i = 0; i < layout.names.size(); ++i) {
      if (i != label && i != weight && !dropped.contains(i)) layout.fields.push_back(i);
    }
    if (options.coded_as) leave_to_known(*options.coded_as, layout, layout.fields);
  }
  for (const auto& [use, column] : {std::pair("label", label), std::pair("weight", weight)}) {
    if (!column || !dropped.contains(*column)) continue;
    throw_input_error("{}:1: column {} (position {}) is dropped, and the {}{}", file, printable(layout.names[*column]),
                      *column, use, *column == 0 && !options.label ? "; choose another with --label" : "");
  }
  for (const std::size_t i : layout.fields) layout.schema.features.push_back(layout.names[i]);
  if (label) {
    layout.fields.push_back(*label);
    layout.schema.label = layout.names[*label];
  }
  if (weight) {
    layout.fields.push_back(*weight);
    layout.schema.weight = layout.names[*weight];
  }

  choose_categories(finder, file, options, layout);

  std::vector<std::pair<std::string_view, std::size_t>> chosen;
  for (const std::size_t i : layout.fields) chosen.emplace_back(layout.names[i], i);
  std::sort(chosen.begin(), chosen.end());
  for (std::size_t k = 1; k < chosen.size(); ++k) {
    const auto [name, i] = chosen[k];
    if (chosen[k - 1].second == i) {
      throw_input_error("{}:1: column {} (position {}) is asked for twice; a column is feature, label or weight, once",
                        file, printable(name), i);
    }
  }
}

/// Makes names differ as pandas does: a, a.1, a.2.
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

}  // namespace

CsvLayout find_layout(const ByteSource& source, const std::string& name, const CsvOptions& options) {
  if (options.delimiter && std::string_view(",;\t |").find(*options.delimiter) == std::string_view::npos) {
    throw_input_error("the delimiter {} is not allowed; comma, semicolon, tab, space and | are",
                      printable({&*options.delimiter, 1}));
  }
  if (options.chunk_bytes == 0) throw_input_error("chunk_bytes is 0; at least 1 is needed");
  const std::string lines = read_sample(source, name, options.max_line_bytes);
  std::string_view sample = lines;
  CsvLayout layout;
  if (sample.starts_with("\xef\xbb\xbf")) layout.text_begin = 3;
  if (sample.starts_with("\xff\xfe") || sample.starts_with("\xfe\xff")) {
    throw_input_error("{}: is UTF-16 text; save it as UTF-8", name);
  }
  sample.remove_prefix(static_cast<std::size_t>(layout.text_begin));
  if (sample == "\n") throw_input_error("{}: is empty", name);
  if (options.header != std::optional(false) && (sample[0] == '\n' || sample.starts_with("\r\n"))) {
    throw_input_error("{}:1: the line is blank; it must name the columns or be a row of numbers", name);
  }

  const MissingTokens missing(options.missing);
  layout.delimiter = options.delimiter ? *options.delimiter : find_delimiter(sample, missing);
  try {
    layout.names = FieldReader(layout.delimiter).read_line(sample.data(), sample.data() + sample.size());
  } catch (const TextFault& fault) {
    throw_input_error("{}:1: {}", name, fault.message);
  }
  layout.found_header = !options.header;
  layout.has_header = options.header ? *options.header : find_header(name, sample, layout, missing, options);
  const std::vector<Looks> looks = find_looks(sample, layout.names, layout, missing);
  for (std::size_t i = 0; i < layout.names.size(); ++i) {
    if (!layout.has_header || layout.names[i].empty()) layout.names[i] = fmt::format("f{}", i);
  }
  for (std::size_t i = 0; i < layout.names.size(); ++i) {
    if (is_utf8(layout.names[i])) continue;
    throw_input_error("{}:1: the name of column {} ({}) is not UTF-8; save the file as UTF-8", name, i,
                      printable(layout.names[i]));
  }
  layout.renamed = rename_repeated(layout.names);
  choose_columns(name, options, looks, layout);
  choose_classes(name, looks, options, layout);
  return layout;
}

}  // namespace podere::io
