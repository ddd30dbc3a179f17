#include "podere/columns/arrow_number.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace podere::columns {

std::string decimal_text(const std::uint8_t* bytes, std::size_t n_bytes, int scale) {
  constexpr std::size_t kMostWords = 8;
  constexpr std::uint32_t kBillion = 1'000'000'000;
  std::array<std::uint32_t, kMostWords> words{};  // the lowest first
  std::memcpy(words.data(), bytes, n_bytes);
  const std::size_t n_words = n_bytes / sizeof(std::uint32_t);
  const bool is_negative = words[n_words - 1] >> 31 != 0;
  if (is_negative) {
    std::uint64_t carry = 1;
    for (std::size_t i = 0; i < n_words; ++i) {
      carry += ~words[i];
      words[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
  }
  std::string digits;  // the last first
  const auto is_zero = [&] { return std::ranges::all_of(words, [](std::uint32_t word) { return word == 0; }); };
  while (!is_zero()) {
    std::uint64_t rest = 0;
    for (std::size_t i = n_words; i-- > 0;) {
      rest = rest << 32 | words[i];
      words[i] = static_cast<std::uint32_t>(rest / kBillion);
      rest %= kBillion;
    }
    for (int i = 0; i < 9; ++i, rest /= 10) digits += static_cast<char>('0' + rest % 10);
  }
  const auto n_behind = static_cast<std::size_t>(std::max(scale, 0));
  while (digits.size() > n_behind + 1 && digits.back() == '0') digits.pop_back();
  if (digits.size() < n_behind + 1) digits.append(n_behind + 1 - digits.size(), '0');
  std::ranges::reverse(digits);
  const bool is_all_zero = digits.find_first_not_of('0') == std::string::npos;
  if (scale < 0 && !is_all_zero) digits.append(static_cast<std::size_t>(-scale), '0');
  if (n_behind > 0) digits.insert(digits.size() - n_behind, 1, '.');
  return is_negative ? "-" + digits : digits;
}

}  // namespace podere::columns
