#include "podere/io/csv_field.h"

#include <fmt/core.h>

#include <cstring>

namespace podere::io {
namespace {

/// Bytes of the printable UTF-8 character that `text` begins with; 0 if it begins with none.
std::size_t printable_bytes(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7f;
  const std::size_t n = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < n) return 0;
  std::uint32_t code = lead & (0x7fU >> n);
  for (const char c : text.substr(1, n - 1)) {
    if ((c & 0xc0) != 0x80) return 0;
    code = code << 6 | (c & 0x3fU);
  }
  const bool is_shortest = code >= (n == 4 ? 0x10000U : n == 3 ? 0x800U : 0xa0U);  // below 0xa0 lie control characters
  const bool is_character = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return is_shortest && is_character ? n : 0;
}

}  // namespace

std::string printable(std::string_view text) {
  constexpr std::size_t kMaxBytes = 40;
  std::string result = "'";
  while (!text.empty()) {
    if (result.size() > kMaxBytes) return result + "...'";
    const std::size_t n = printable_bytes(text);
    if (n > 0) {
      result += text.substr(0, n);
    } else {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    }
    text.remove_prefix(n > 0 ? n : 1);
  }
  return result + "'";
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t k) { return i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0U; };
    const unsigned lead = byte(0);
    const std::size_t n = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    if (n == 0) return false;
    for (std::size_t k = 1; k < n; ++k) {
      if ((byte(k) & 0xc0U) != 0x80) return false;
    }
    const bool is_overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
    const bool is_no_character = (lead == 0xed && byte(1) > 0x9f) || (lead == 0xf4 && byte(1) > 0x8f);
    if (is_overlong || is_no_character) return false;
    i += n;
  }
  return true;
}

const char* find_line_end(const char* p, const char* end, bool in_quotes) {
  for (; p < end; ++p) {
    if (*p == '"') in_quotes = !in_quotes;
    if (*p == '\n' && !in_quotes) return p + 1;
  }
  return nullptr;
}

const char* FieldReader::step_over_line_end(const char* p) {
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
    unescaped_ += *p++;  // two quotes stand for one
  }
  p = leave_field(skip_blanks(p));
  if (!ends_field(*p)) throw TextFault{p, "text behind a closing quote"};
  return p;
}

std::vector<std::string> FieldReader::read_line(const char* p, const char* end) {
  std::vector<std::string> fields;
  std::string_view content;
  for (p = enter_line(p);; ++p) {
    p = read(p, end, content);
    fields.emplace_back(content);
    if (ends_line(*p)) break;
  }
  step_over_line_end(p);
  return fields;
}

}  // namespace podere::io
