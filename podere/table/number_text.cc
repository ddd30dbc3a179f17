#include "podere/table/number_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>

#include "podere/base/number.h"

namespace podere::table {

std::optional<std::string> number_text(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  std::int64_t whole = 0;
  const char* const end = text.data() + text.size();
  if (const auto [rest, error] = std::from_chars(text.data(), end, whole); error == std::errc() && rest == end)
    return fmt::format("{}", whole);
  const auto real = parse_real(text);
  if (!real) return std::nullopt;
  constexpr double kExact = 9007199254740992;  // float64 holds every whole number up to it
  if (*real == std::trunc(*real) && std::abs(*real) <= kExact)
    return fmt::format("{}", static_cast<std::int64_t>(*real));
  return fmt::format("{}", *real);
}

}  // namespace podere::table
