#include "podere/io/csv_field.h"

#include <cstring>

namespace podere::io {

const char* step_over_line_end(const char* p) {
  if (*p == '\r' && *++p != '\n') throw TextFault{p - 1, "a carriage return inside a line; lines end with LF or CRLF"};
  if (*p != '\n') throw TextFault{p, "no line end"};
  return p + 1;
}

const char* FieldReader::read(const char* p, const char* end, std::string_view& content) {
  p = skip_blanks(p);
  if (*p == '"') return read_quoted(p, end, content);
  const char* stop = p;
  for (; !ends_field(*stop); ++stop) {
    if (*stop == '"') throw TextFault{stop, "a quote inside a field that does not begin with one"};
    if (*stop == '\0') throw TextFault{stop, "a NUL byte; text is needed"};
  }
  const char* last = stop;
  while (last > p && is_blank(last[-1])) --last;
  content = {p, static_cast<std::size_t>(last - p)};
  return leave_field(stop);
}

const char* FieldReader::read_quoted(const char* p, const char* end, std::string_view& content) {
  const char* const open = p++;
  unescaped_.clear();
  while (true) {
    const auto* close = static_cast<const char*>(std::memchr(p, '"', static_cast<std::size_t>(end - p)));
    if (close == nullptr) throw TextFault{open, "a quote that is not closed"};
    const std::string_view piece(p, static_cast<std::size_t>(close - p));
    p = close + 1;
    if (*p != '"') {
      content = unescaped_.empty() ? piece : std::string_view(unescaped_ += piece);
      break;
    }
    unescaped_ += piece;
    unescaped_ += *p++;  // two quotes mean one
  }
  p = leave_field(skip_blanks(p));
  if (!ends_field(*p)) throw TextFault{p, "text behind a closing quote"};
  return p;
}

const char* FieldReader::leave_line(const char* p) const {
  return step_over_line_end(*p == comment_ ? static_cast<const char*>(rawmemchr(p, '\n')) : p);
}

std::vector<std::string> FieldReader::read_row(std::string_view row) {
  std::vector<std::string> fields;
  std::string_view content;
  const char* const end = row.data() + row.size();
  const char* p = enter_line(row.data());
  for (;; ++p) {
    p = read(p, end, content);
    fields.emplace_back(content);
    if (ends_line(*p)) break;
  }
  leave_line(p);
  return fields;
}

}  // namespace podere::io
