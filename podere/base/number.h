// Numbers as users write them.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

namespace podere {

/// A finite number. Nothing if `text` is anything else.
inline std::optional<double> parse_real(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// A count: digits, or a whole number up to 2^53 in the notation of real numbers ("1e6"). Nothing if `text` is
/// anything else.
inline std::optional<std::uint64_t> parse_count(std::string_view text) {
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error == std::errc() && end == text.data() + text.size()) return count;
  const auto value = parse_real(text);
  if (!value || *value < 0 || *value > 0x1p53 || *value != std::floor(*value)) return std::nullopt;
  return static_cast<std::uint64_t>(*value);
}

}  // namespace podere
