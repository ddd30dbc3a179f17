#include "podere/controller/quantity.h"

#include <algorithm>
#include <charconv>

#include "podere/base/error.h"
#include "podere/base/printable.h"

namespace podere::controller {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr int kMostDigits = 16;  // 10^16 * 2^60 * 1000 stays below 2^127; further digits round up

struct Decimal {
  std::uint64_t digits = 0;
  int exponent = 0;  // of ten
};

struct Suffix {
  int power_of_ten = 0;
  int power_of_two = 0;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Removes "12.5" from the front of `text`. Nothing if no digit is there.
std::optional<Decimal> take_decimal(std::string_view& text) {
  Decimal decimal;
  bool has_digits = false;
  bool is_fraction = false;
  bool is_cut = false;
  int n_kept = 0;
  for (; !text.empty() && (is_digit(text[0]) || (text[0] == '.' && !is_fraction)); text.remove_prefix(1)) {
    if (text[0] == '.') {
      is_fraction = true;
      continue;
    }
    has_digits = true;
    if (n_kept < kMostDigits) {
      decimal.digits = 10 * decimal.digits + static_cast<std::uint64_t>(text[0] - '0');
      n_kept += decimal.digits > 0;
      decimal.exponent -= is_fraction;
    } else {
      is_cut |= text[0] != '0';
      decimal.exponent += !is_fraction;
    }
  }
  decimal.digits += is_cut;
  if (!has_digits) return std::nullopt;
  return decimal;
}

std::optional<Suffix> suffix_of(std::string_view text) {
  constexpr std::string_view kThousands = "kMGTPE";
  constexpr std::string_view kThousandths = "mun";
  if (text.empty()) return Suffix{};
  if (text.size() == 2 && text[1] == 'i') {
    const auto step = text[0] == 'K' ? 0 : text[0] == 'k' ? std::string_view::npos : kThousands.find(text[0]);
    if (step == std::string_view::npos) return std::nullopt;
    return Suffix{.power_of_two = 10 * (static_cast<int>(step) + 1)};
  }
  if (text.size() == 1) {
    if (const auto step = kThousands.find(text[0]); step != std::string_view::npos)
      return Suffix{.power_of_ten = 3 * (static_cast<int>(step) + 1)};
    if (const auto step = kThousandths.find(text[0]); step != std::string_view::npos)
      return Suffix{.power_of_ten = -3 * (static_cast<int>(step) + 1)};
    return std::nullopt;
  }
  if (text[0] != 'e' && text[0] != 'E') return std::nullopt;
  text.remove_prefix(text[1] == '+' ? 2 : 1);
  Suffix suffix;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), suffix.power_of_ten);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  suffix.power_of_ten = std::clamp(suffix.power_of_ten, -1000, 1000);
  return suffix;
}

/// `value` times ten to the `exponent`, rounded up.
std::int64_t scaled(Wide value, int exponent) {
  bool has_rest = false;
  for (; exponent < 0 && value > 0; ++exponent) {
    has_rest |= value % 10 != 0;
    value /= 10;
  }
  value += has_rest;
  for (; exponent > 0 && value > 0 && value <= kMostOfAResource; --exponent) value *= 10;
  return static_cast<std::int64_t>(std::min<Wide>(value, kMostOfAResource));
}

}  // namespace

std::optional<std::int64_t> parse_quantity(std::string_view text, int scale) {
  bool is_negative = false;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    is_negative = text[0] == '-';
    text.remove_prefix(1);
  }
  const auto decimal = take_decimal(text);
  const auto suffix = suffix_of(text);
  if (!decimal || !suffix || (is_negative && decimal->digits > 0)) return std::nullopt;
  const Wide value = (Wide{decimal->digits} << suffix->power_of_two) * static_cast<unsigned>(scale);
  return scaled(value, decimal->exponent + suffix->power_of_ten);
}

Amounts amounts_of(const kube::Json& quantities) {
  Amounts amounts;
  if (!quantities.is_object()) return amounts;
  for (const auto& [name, quantity] : quantities.items()) {
    const std::string text = quantity.is_string() ? quantity.get<std::string>() : quantity.dump();
    const auto amount = parse_quantity(text, name == "cpu" ? 1000 : 1);
    if (!amount) throw_error("{} of {} is no amount of a resource", printable(text), printable(name));
    amounts[name] = *amount;
  }
  return amounts;
}

}  // namespace podere::controller
