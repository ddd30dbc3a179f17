#include "podere/io/rounded_wholes.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <limits>
#include <span>
#include <system_error>

#include "podere/io/decimal.h"

namespace podere::io {

bool is_whole_number(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  const std::size_t n_digits = std::min(text.find('.'), text.size());
  const bool has_zeros = text.find_first_not_of('0', std::min(n_digits + 1, text.size())) == text.npos;
  return n_digits > 0 && std::ranges::all_of(text.substr(0, n_digits), detail::is_digit) && has_zeros;
}

bool is_rounded(std::string_view text, float rounded) {
  if (!is_whole_number(text)) return false;
  if (text.starts_with('+')) text.remove_prefix(1);
  std::int64_t whole = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  constexpr float kEnd = 9223372036854775808.0F;  // 2^63
  if (error == std::errc() && std::abs(rounded) < kEnd) return static_cast<std::int64_t>(rounded) != whole;
  // Beyond 64 bits, digit by digit.
  if (text.starts_with('-')) text.remove_prefix(1);
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
  return text.substr(0, text.find('.')) != fmt::format("{:.0f}", std::abs(rounded));
}

RoundedWholes::RoundedWholes(const CsvLayout& layout) : columns_(layout.fields.size()) {
  for (std::size_t k = 0; k < layout.schema.features.size(); ++k) {
    columns_[k].is_wanted = layout.sample_texts[k].are_whole && layout.date_parts[k] == DatePart::kNone;
  }
}

std::vector<float> RoundedWholes::join_steps(const comm::Communicator& comm) const {
  std::vector<float> steps;
  for (const Column& column : columns_) steps.push_back(column.largest);
  comm.all_reduce(std::span(steps), comm::Reduction::kMax);
  constexpr int kDigits = std::numeric_limits<float>::digits;
  for (float& step : steps) step = step >= kFirstRounded ? std::ldexp(1.0F, std::ilogb(step) - kDigits + 1) : 0;
  return steps;
}

}  // namespace podere::io
