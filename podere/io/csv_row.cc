#include "podere/io/csv_row.h"

#include <fmt/core.h>

#include <cmath>

#include "podere/base/printable.h"
#include "podere/io/decimal.h"

namespace podere::io {

const char* RowParser::parse(const char* p, const char* end, float* values) {
  const std::size_t n_fields = layout_.names.size() - layout_.n_folder_fields;
  std::size_t field = 0;
  p = reader_.enter_line(p);
  while (true) {
    p = values_.is_plain(field) ? parse_plain(p, end, field, values) : parse_field(p, end, field, values);
    if (++field == n_fields) break;
    if (reader_.ends_line(*p)) {
      throw TextFault{
          p, fmt::format("the row ends after {} of {} fields: {} is missing", field, n_fields, values_.column(field))};
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
  for (const auto& [name, value] : folders_) set_value(p, field++, value, values);
  return reader_.leave_line(p);
}

/// A field that is most likely a number without any marks.
const char* RowParser::parse_plain(const char* p, const char* end, std::size_t field, float* values) {
  float& value = values[values_.column_of(field)];
  p = reader_.skip_blanks(p);
  const char* stop = parse_float_quickly(p, value);
  if (stop != nullptr) {
    const std::string_view number(p, static_cast<std::size_t>(stop - p));
    stop = reader_.leave_field(stop);
    if (reader_.ends_field(*stop)) {
      if (missing_.holds(value)) value = kMissing;
      if (std::abs(value) >= kFirstRounded) values_.check_rounded(field, number, value);
      return stop;
    }
  }
  return parse_field(p, end, field, values);
}

const char* RowParser::parse_field(const char* p, const char* end, std::size_t field, float* values) {
  std::string_view content;
  const char* const stop = read_field(p, end, field, content);
  set_value(p, field, content, values);
  return stop;
}

void RowParser::set_value(const char* p, std::size_t field, std::string_view content, float* values) {
  try {
    values_.set(field, content, values);
  } catch (const FieldFault& fault) {
    throw TextFault{p, fmt::format("{}: {}", values_.column(field), fault.message)};
  }
}

const char* RowParser::read_field(const char* p, const char* end, std::size_t field, std::string_view& content) {
  try {
    return reader_.read(p, end, content);
  } catch (TextFault& fault) {
    fault.message = fmt::format("{}: {}", values_.column(field), fault.message);
    throw;
  }
}

}  // namespace podere::io
