#include "podere/io/field_values.h"

#include <fmt/core.h>

#include <cmath>
#include <optional>

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

FieldValues::FieldValues(const CsvLayout& layout, const MissingTokens& missing, Categories& categories,
                         TextCounts* texts, RoundedWholes* rounded)
    : layout_(layout),
      missing_(missing),
      categories_(categories, missing),
      texts_(texts),
      rounded_(rounded),
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

void FieldValues::set(std::size_t field, std::string_view content, float* values) {
  if (is_skipped(field)) return;
  const std::size_t k = column_of(field);
  if (is_plain(field)) {
    values[k] = to_value(content, field);
  } else if (is_category(field)) {
    try {
      values[k] = categories_.number(k, content);
    } catch (const CategoryFault& fault) {
      throw FieldFault{fmt::format("{} {}", printable(content), fault.message)};
    }
  } else {
    set_values_of_form(content, field, values);
  }
}

float FieldValues::to_value(std::string_view content, std::size_t field) const {
  if (missing_.holds(content)) return kMissing;
  float value;
  if (!parse_float(trim(content), value) || std::isnan(value)) {
    return take_text(content, field,
                     fmt::format("is neither a number nor a text for a missing value{}",
                                 has_pair(content) ? "; a libsvm file is read with --format libsvm" : ""));
  }
  if (missing_.holds(value)) return kMissing;
  const bool says_infinity = content.find_first_of("iI") != std::string_view::npos;
  if (std::isinf(value) && !says_infinity) {
    return take_text(content, field, "is beyond float32, which ends at 3.4e38");
  }
  if (std::abs(value) >= kFirstRounded) check_rounded(field, trim(content), value);
  return value;
}

/// A number that is written in the form of its column, and the parts of a date.
void FieldValues::set_values_of_form(std::string_view content, std::size_t field, float* values) const {
  const std::size_t k = column_of(field);
  const NumberForm& form = number_forms()[*layout_.forms[k]];
  std::optional<double> number;
  float& value = values[k];
  value = kMissing;
  if (!missing_.holds(content)) {
    number = form.read(trim(content));
    if (!number) {
      value = take_text(content, field,
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
float FieldValues::take_text(std::string_view content, std::size_t field, const std::string& fault) const {
  if (texts_ != nullptr) {
    texts_->count(column_of(field), content);
    return kMissing;
  }
  throw FieldFault{fmt::format("{} {}", printable(content), fault)};
}

std::string FieldValues::column(std::size_t field) const {
  return fmt::format("column {} (position {})", printable(layout_.names[field]), field);
}

}  // namespace podere::io
