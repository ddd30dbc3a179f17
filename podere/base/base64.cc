#include "podere/base/base64.h"

#include <openssl/evp.h>

#include <algorithm>

#include "podere/base/error.h"

namespace podere {
namespace {

// The library counts in int.
constexpr std::size_t kPieceBytes = std::size_t{3} << 20;
constexpr std::size_t kPieceCharacters = kPieceBytes / 3 * 4;

}  // namespace

std::string to_base64(std::span<const std::byte> bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // the library ends each piece with a NUL
  for (std::size_t i = 0; i < bytes.size(); i += kPieceBytes) {
    EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()) + i / 3 * 4,
                    reinterpret_cast<const unsigned char*>(bytes.data()) + i,
                    static_cast<int>(std::min(kPieceBytes, bytes.size() - i)));
  }
  text.pop_back();
  return text;
}

std::vector<std::byte> from_base64(const std::string& text) {
  std::vector<std::byte> bytes(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += kPieceCharacters) {
    EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()) + i / 4 * 3,
                    reinterpret_cast<const unsigned char*>(text.data()) + i,
                    static_cast<int>(std::min(kPieceCharacters, text.size() - i)));
  }
  for (std::size_t n = text.size(); n > 0 && text[n - 1] == '=' && !bytes.empty(); --n) bytes.pop_back();
  // The library lets spaces and more pass.
  if (to_base64(bytes) != text) throw InputError("a value is not base64");
  return bytes;
}

}  // namespace podere
