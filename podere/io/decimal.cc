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

}  // namespace podere::io
