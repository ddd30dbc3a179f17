// Bytes as text.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace podere {

/// RFC 4648, section 4, without line breaks.
std::string to_base64(std::span<const std::byte> bytes);
/// Inverse of to_base64. Throws InputError for what it never makes.
std::vector<std::byte> from_base64(const std::string& text);

}  // namespace podere
