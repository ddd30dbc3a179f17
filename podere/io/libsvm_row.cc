#include "podere/io/libsvm_row.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "podere/base/printable.h"
#include "podere/io/csv_field.h"
#include "podere/io/decimal.h"
#include "podere/io/memory_room.h"

namespace podere::io {
namespace {

constexpr std::ptrdiff_t kMostDigits = 18;  // fit into an integer

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool ends_row(char c) { return c == '\n' || c == '\r' || c == '#'; }
bool ends_token(char c) { return is_blank(c) || ends_row(c); }

const char* skip_blanks(const char* p) {
  while (is_blank(*p)) ++p;
  return p;
}

/// The text at `p` up to a blank, a comment or the line end.
std::string_view token_at(const char* p) {
  const char* stop = p;
  while (!ends_token(*stop)) ++stop;
  return {p, static_cast<std::size_t>(stop - p)};
}

/// Behind the digits at `p`, as far as they can be read.
const char* read_digits(const char* p, std::uint64_t& number) {
  number = 0;
  const char* stop = p;
  for (; detail::is_digit(*stop) && stop - p < kMostDigits; ++stop) {
    number = number * 10 + static_cast<std::uint64_t>(*stop - '0');
  }
  return stop;
}

[[noreturn]] void refuse_pair(const char* p) {
  const std::string_view token = token_at(p);
  if (token.starts_with("qid:")) {
    throw TextFault{
        p, fmt::format("{} is of rows that are to be ranked, which Podere does not do: take it out", printable(token))};
  }
  throw TextFault{p, fmt::format("{} is not index:value", printable(token))};
}

[[noreturn]] void refuse_order(const char* p, std::uint64_t index, std::uint64_t previous) {
  throw TextFault{p, index == previous ? fmt::format("index {} stands twice", index)
                                       : fmt::format("index {} stands behind {}; they must rise", index, previous)};
}

}  // namespace

std::optional<std::uint64_t> last_index(const char* p, const char* end, const char*& next) {
  const auto find = [](const char* from, const char* to, char c) {
    const void* const found = std::memchr(from, c, static_cast<std::size_t>(to - from));
    return found == nullptr ? to : static_cast<const char*>(found);
  };
  const char* const line_end = find(p, end, '\n');
  next = line_end + 1;
  const char* const stop = find(p, line_end, '#');
  const void* const colon = memrchr(p, ':', static_cast<std::size_t>(stop - p));
  if (colon == nullptr) return std::nullopt;
  const char* digits = static_cast<const char*>(colon);
  while (digits > p && detail::is_digit(digits[-1])) --digits;
  if (digits == colon) return std::nullopt;
  std::uint64_t index = 0;
  if (read_digits(digits, index) == colon && index <= kMostFeatures) return index;
  throw TextFault{digits, fmt::format("index {} is beyond the {} features that a table can have",
                                      std::string_view(digits, static_cast<const char*>(colon)), kMostFeatures)};
}

const char* LibsvmParser::parse(const char* p, const char* end, float* values) const {
  std::fill_n(values, layout_.n_features, 0.0F);
  p = skip_blanks(p);
  p = parse_number(p, std::nullopt, values[layout_.n_features]);
  std::optional<std::uint64_t> previous;
  for (p = skip_blanks(p); !ends_row(*p); p = skip_blanks(p)) {
    std::uint64_t index = 0;
    p = parse_index(p, end, previous, index);
    float number = 0;
    const char* const text = p;
    p = parse_number(p, index, number);
    const std::uint32_t column = layout_.columns[index - layout_.first_index];
    if (column != LibsvmLayout::kSkipped) {
      values[column] = number;
      if (std::abs(number) >= kFirstRounded) note_if_rounded(column, {text, p}, number);
    }
    previous = index;
  }
  if (*p == '#') p = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
  return step_over_line_end(p);
}

void LibsvmParser::note_if_rounded(std::uint32_t column, std::string_view text, float number) const {
  if (rounded_.may_be(column, number) && is_rounded(text, number)) rounded_.note(column, number);
}

/// Behind the number at `p`, the value of `index`, or the label.
const char* LibsvmParser::parse_number(const char* p, std::optional<std::uint64_t> index, float& value) const {
  const char* const stop = parse_float_quickly(p, value);
  if (stop != nullptr && ends_token(*stop)) {
    if (missing_.holds(value)) value = kMissing;
    return stop;
  }
  const auto what = [&] { return index ? fmt::format("the value of index {}", *index) : "the label"; };
  const std::string_view token = token_at(p);
  const bool is_missing = !token.empty() && missing_.holds(token);
  if (!is_missing && (!parse_float(token, value) || std::isnan(value))) {
    throw TextFault{p, fmt::format("{} is {}, which is no number", what(), printable(token))};
  }
  const bool says_infinity = token.find_first_of("iI") != std::string_view::npos;
  if (!is_missing && std::isinf(value) && !says_infinity) {
    throw TextFault{p, fmt::format("{} is {}, beyond float32, which ends at 3.4e38", what(), printable(token))};
  }
  if (is_missing || missing_.holds(value)) value = kMissing;
  return token.data() + token.size();
}

/// Behind the "index:" at `p`.
const char* LibsvmParser::parse_index(const char* p, const char* end, std::optional<std::uint64_t> previous,
                                      std::uint64_t& index) const {
  const char* const stop = read_digits(p, index);
  if (stop == p || *stop != ':') refuse_pair(p);
  if (index < layout_.first_index) {
    throw TextFault{p, "index 0, where indices count from 1: say --zero-based if they count from 0 in this file"};
  }
  if (previous && index <= *previous) refuse_order(p, index, *previous);
  if (index - layout_.first_index >= layout_.columns.size()) {
    // Where nothing is asked for there is room for the last index of each line.
    const char* next = nullptr;
    if (const auto last = last_index(p, end, next); last && *last < index) refuse_order(p, *last, index);
    throw TextFault{
        p, fmt::format("index {} is beyond the {} features that are asked for", index, layout_.columns.size())};
  }
  return stop + 1;
}

}  // namespace podere::io
