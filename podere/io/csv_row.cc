#include "podere/io/csv_row.h"

#include <fmt/core.h>

#include <cmath>
#include <optional>
#include <string>

#include "podere/base/printable.h"
#include "podere/io/decimal.h"
#include "podere/io/number_form.h"

namespace podere::io {
namespace {

/// Whether a text has something like "12:0.5" in it, as lines of libsvm files do; so have times of the day.
bool has_pair(std::string_view text) {
  const std::size_t colon = text.find(':');
  return colon != std::string_view::npos && colon > 0 && detail::is_digit(text[colon - 1]);
}

/// Without blanks at either end, which quotes may keep.
std::string_view trim(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

RowParser::RowParser(const CsvLayout& layout, const MissingTokens& missing, Categories& categories, TextCounts* texts)
    : layout_(layout),
      missing_(missing),
      categories_(categories, missing),
      texts_(texts),
      reader_(layout.delimiter, layout.rules.comment),
      columns_(layout.names.size(), kSkipped) {
  for (std::size_t k = 0; k < layout.fields.size(); ++k) {
    if (layout.date_parts[k] != DatePart::kNone) {
      parts_.push_back(static_cast<std::uint32_t>(k));
      continue;
    }
    const bool is_text_label = k == layout.schema.features.size() && layout.has_text_label();
    const bool is_text = layout.schema.is_categorical(k) || is_text_label;
    columns_[layout.fields[k]] = static_cast<std::uint32_t>(k) + (is_text ? kCategory : layout.forms[k] ? kOfForm : 0);
  }
}

const char* RowParser::parse(const char* p, const char* end, float* values) {
  const std::size_t n_fields = columns_.size();
  std::size_t field = 0;
  p = reader_.enter_line(p);
  while (true) {
    const std::uint32_t k = columns_[field];
    p = k < kOfForm ? parse_value(p, end, field, values[k]) : parse_special(p, end, field, values);
    if (++field == n_fields) break;
    if (reader_.ends_line(*p)) {
      throw TextFault{p,
                      fmt::format("the row ends after {} of {} fields: {} is missing", field, n_fields, column(field))};
    }
    ++p;
  }
  if (*p == reader_.delimiter()) {
    std::string_view content;
    const char* const stop = reader_.read(p + 1, end, content);
    if (!layout_.ends_with_delimiter || !content.empty() || !reader_.ends_line(*stop)) {
      throw TextFault{p, fmt::format("{} is one field too many: a row has {}", printable(content), n_fields)};
    }
    p = stop;
  }
  return reader_.leave_line(p);
}

const char* RowParser::parse_value(const char* p, const char* end, std::size_t field, float& value) {
  p = reader_.skip_blanks(p);
  const char* stop = parse_float_quickly(p, value);
  if (stop != nullptr) {
    stop = reader_.leave_field(stop);
    if (reader_.ends_field(*stop)) {
      if (missing_.holds(value)) value = kMissing;
      return stop;
    }
  }
  std::string_view content;
  stop = read_field(p, end, field, content);
  value = to_value(content, p, field);
  return stop;
}

/// A field that is a category, a number of some form, or no column of the table.
const char* RowParser::parse_special(const char* p, const char* end, std::size_t field, float* values) {
  std::string_view content;
  const char* const stop = read_field(p, end, field, content);
  const std::uint32_t k = columns_[field];
  if (k == kSkipped) return stop;
  if (k < kCategory) {
    set_values_of_form(content, p, field, values);
    return stop;
  }
  try {
    values[k - kCategory] = categories_.number(k - kCategory, content);
  } catch (const CategoryFault& fault) {
    throw TextFault{p, fmt::format("{}: {} {}", column(field), printable(content), fault.message)};
  }
  return stop;
}

const char* RowParser::read_field(const char* p, const char* end, std::size_t field, std::string_view& content) {
  try {
    return reader_.read(p, end, content);
  } catch (TextFault& fault) {
    fault.message = fmt::format("{}: {}", column(field), fault.message);
    throw;
  }
}

float RowParser::to_value(std::string_view content, const char* p, std::size_t field) const {
  if (missing_.holds(content)) return kMissing;
  float value;
  if (!parse_float(trim(content), value) || std::isnan(value)) {
    return take_text(content, p, field,
                     fmt::format("is neither a number nor a text for a missing value{}",
                                 has_pair(content) ? "; a libsvm file is read with --format libsvm" : ""));
  }
  if (missing_.holds(value)) return kMissing;
  const bool says_infinity = content.find_first_of("iI") != std::string_view::npos;
  if (std::isinf(value) && !says_infinity) {
    return take_text(content, p, field, "is beyond float32, which ends at 3.4e38");
  }
  return value;
}

/// A number that is written in the form of its column, and the parts of a date.
void RowParser::set_values_of_form(std::string_view content, const char* p, std::size_t field, float* values) const {
  const std::uint32_t column_of_table = columns_[field] - kOfForm;
  const NumberForm& form = number_forms()[*layout_.forms[column_of_table]];
  std::optional<double> number;
  float& value = values[column_of_table];
  value = kMissing;
  if (!missing_.holds(content)) {
    number = form.read(trim(content));
    if (!number) {
      value = take_text(content, p, field,
                        texts_ != nullptr
                            ? ""
                            : fmt::format("is none of the {} of this column, such as {}", form.name, form.example));
    } else if (!missing_.holds(static_cast<float>(*number))) {
      value = static_cast<float>(*number);
    }
  }
  for (const std::uint32_t part : parts_) {
    if (layout_.fields[part] != field) continue;
    values[part] = number ? static_cast<float>(part_of_date(*number, layout_.date_parts[part])) : kMissing;
  }
}

/// What stands where a number belongs.
float RowParser::take_text(std::string_view content, const char* p, std::size_t field, const std::string& fault) const {
  if (texts_ != nullptr) {
    texts_->count(columns_[field] & ~kOfForm, content);
    return kMissing;
  }
  throw TextFault{p, fmt::format("{}: {} {}", column(field), printable(content), fault)};
}

std::string RowParser::column(std::size_t field) const {
  return fmt::format("column {} (position {})", printable(layout_.names[field]), field);
}

}  // namespace podere::io
