// Text of unknown origin, fit to be shown.
#pragma once

#include <string>
#include <string_view>

namespace podere {

/// Whether `text` is well-formed UTF-8 (The Unicode Standard, table 3-7). What goes into JSON must be.
bool is_utf8(std::string_view text);

/// `text` in quotes for a message: clipped, with escapes for what a terminal would not print.
std::string printable(std::string_view text);

}  // namespace podere
