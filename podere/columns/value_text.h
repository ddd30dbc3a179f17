// Values of columns as texts, where a table wants texts: of classes and categories.
#pragma once

#include <cstdint>
#include <string>

namespace podere::columns {

/// The fewest digits that are read as the same number: 3 is "3" as a real number too.
std::string text_of(double value);
std::string text_of(float value);
std::string text_of(std::int64_t value);
std::string text_of(std::uint64_t value);
/// "True" or "False", as Python writes them.
std::string text_of(bool value);
/// Days since 1970-01-01 as "2026-01-31", with " 09:30:00" or " 09:30:00.25" behind where they are not whole.
/// "1e9 days" beyond the years that have four digits.
std::string date_text(double days);
/// A fraction of a day as "09:30:00" or "09:30:00.25".
std::string time_text(double days);

}  // namespace podere::columns
