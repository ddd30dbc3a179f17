#include "podere/base/printable.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace podere {
namespace {

/// Line and paragraph separators, and what turns the direction of the text behind it: U+2028 to U+202e, U+2066 to
/// U+2069.
bool moves_what_follows(std::uint32_t code) {
  return (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

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
  return is_shortest && is_character && !moves_what_follows(code) ? n : 0;
}

}  // namespace

std::string printable_line(std::string_view text, std::size_t max_bytes) {
  std::string result;
  while (!text.empty()) {
    if (result.size() >= max_bytes) return result + "...";
    const std::size_t n = printable_bytes(text);
    if (n > 0) {
      result += text.substr(0, n);
    } else {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    }
    text.remove_prefix(n > 0 ? n : 1);
  }
  return result;
}

std::string printable(std::string_view text) { return "'" + printable_line(text, 40) + "'"; }

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

std::string printable_list(std::span<const std::string> texts, std::size_t max_texts) {
  std::string list;
  for (const std::string& text : texts.first(std::min(max_texts, texts.size()))) {
    list += (list.empty() ? "" : ", ") + printable(text);
  }
  return texts.size() > max_texts ? list + ", ..." : list;
}

}  // namespace podere
