// Text of unknown origin, fit to be shown.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace podere {

/// Whether `text` is well-formed UTF-8 (The Unicode Standard, table 3-7). What goes into JSON must be.
bool is_utf8(std::string_view text);

/// `text` in quotes for a message: clipped, with escapes for what a terminal would not print.
std::string printable(std::string_view text);
/// The same without quotes, clipped to `max_bytes` or a few more.
std::string printable_line(std::string_view text, std::size_t max_bytes);
/// "'a', 'b', 'c'"; of many the first ones and "...".
std::string printable_list(std::span<const std::string> texts, std::size_t max_texts = 20);

}  // namespace podere
