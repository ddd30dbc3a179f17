#include "podere/base/secret.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <sys/random.h>

#include <array>
#include <cstddef>

namespace podere {

std::string random_token() {
  std::array<unsigned char, 24> bytes = {};
  for (std::size_t n = 0; n < bytes.size();) {
    const ssize_t got = getrandom(bytes.data() + n, bytes.size() - n, 0);
    if (got > 0) n += static_cast<std::size_t>(got);
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

bool is_same_secret(std::string_view given, std::string_view secret) {
  return given.size() == secret.size() && CRYPTO_memcmp(given.data(), secret.data(), secret.size()) == 0;
}

}  // namespace podere
