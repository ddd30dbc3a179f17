// Tokens by which processes know each other.
#pragma once

#include <string>
#include <string_view>

namespace podere {

/// 24 random bytes in hexadecimal digits.
std::string random_token();

/// Whether a secret was given, in a time that does not depend on where they differ.
bool is_same_secret(std::string_view given, std::string_view secret);

}  // namespace podere
