// One text for each number, however it is written.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace podere::table {

/// The one text of a finite number in any notation: `3`, `3.0` and `3e0` are `3`, `-0` is `0`, others are their
/// shortest text as float64. Whole numbers of 64 bits keep all their digits. Nothing if `text` is no such number.
std::optional<std::string> number_text(std::string_view text);

}  // namespace podere::table
