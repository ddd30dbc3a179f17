#include "podere/io/rounded_wholes.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <cstring>
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

RoundedWholes::RoundedWholes(std::size_t n_columns) : columns_(n_columns) {
  for (Column& column : columns_) column.is_wanted = true;
}

std::vector<float> RoundedWholes::join_steps(const comm::Communicator& comm) const {
  std::vector<float> steps;
  for (const Column& column : columns_) steps.push_back(column.largest);
  comm.all_reduce(std::span(steps), comm::Reduction::kMax);
  constexpr int kDigits = std::numeric_limits<float>::digits;
  for (float& step : steps) step = step >= kFirstRounded ? std::ldexp(1.0F, std::ilogb(step) - kDigits + 1) : 0;
  return steps;
}

std::vector<Rounded> RoundedWholes::join(const std::vector<std::string>& names, const comm::Communicator& comm) const {
  const std::vector<float> steps = join_steps(comm);
  std::vector<Rounded> found;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    if (steps[k] > 0) found.push_back({.column = names[k], .step = steps[k], .may_be_category = false});
  }
  return found;
}

namespace {

/// Whether numbers of `n` rows are whole where they are large; those that are not `filled` go to `rounded`.
template <typename T>
void note_rounded_values(const std::byte* from, std::ptrdiff_t stride, std::span<const float> filled,
                         std::size_t column, RoundedWholes& rounded) {
  for (std::size_t i = 0; i < filled.size(); ++i) {
    if (!rounded.may_be(column, filled[i])) continue;
    T value;
    std::memcpy(&value, from + static_cast<std::ptrdiff_t>(i) * stride, sizeof value);
    const auto exact = static_cast<long double>(value);  // holds 64 bits
    if (exact == std::floor(exact) && exact != static_cast<long double>(filled[i])) rounded.note(column, filled[i]);
  }
}

}  // namespace

void note_rounded(const table::StridedMatrix& from, const table::Table& to, table::LocalRow first_row,
                  std::size_t first_column, RoundedWholes& rounded) {
  using table::Element;
  for (std::size_t j = 0; j < from.n_columns; ++j) {
    const std::byte* const begin = from.begin + static_cast<std::ptrdiff_t>(j) * from.column_stride;
    const std::size_t column = first_column + j;
    const auto filled = to.feature(column).subspan(first_row.value, from.n_rows);
    const auto note = [&]<typename T>(T) { note_rounded_values<T>(begin, from.row_stride, filled, column, rounded); };
    if (from.element == Element::kInt32) note(std::int32_t{});
    if (from.element == Element::kInt64) note(std::int64_t{});
    if (from.element == Element::kUint32) note(std::uint32_t{});
    if (from.element == Element::kUint64) note(std::uint64_t{});
    if (from.element == Element::kFloat64) note(double{});
  }
}

}  // namespace podere::io
