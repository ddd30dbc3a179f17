#include "podere/io/decimal.h"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <string>
#include <system_error>

namespace podere::io {

bool parse_float(std::string_view text, float& value) {
  // A '+' is ours: from_chars knows '-' only.
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  const char* const end = text.data() + text.size();
  const auto [stop, error] = fast_float::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

bool has_decimal_comma(std::string_view text) {
  constexpr std::size_t kLongest = 64;
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos || text.size() > kLongest) return false;
  const bool may_part_thousands = text.size() == comma + 4 && text.find_first_of("123456789") < comma &&
                                  std::ranges::all_of(text.substr(comma + 1), detail::is_digit);
  if (may_part_thousands) return false;
  std::string with_point(text);
  with_point[comma] = '.';
  float value;
  return parse_float(with_point, value);
}

}  // namespace podere::io
