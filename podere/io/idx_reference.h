// IDX files for tests, written plainly.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace podere::io {

/// The bytes of `value`, the highest first.
template <typename T>
std::string big_endian_bytes(T value) {
  const char* const bytes = reinterpret_cast<const char*>(&value);
  std::string text(bytes, bytes + sizeof value);
  return std::endian::native == std::endian::little ? std::string(text.rbegin(), text.rend()) : text;
}

/// An IDX file of this type and shape.
template <typename T>
std::string idx_file(unsigned char type, const std::vector<std::uint32_t>& sizes, const std::vector<T>& values) {
  std::string file = {'\0', '\0', static_cast<char>(type), static_cast<char>(sizes.size())};
  for (const std::uint32_t size : sizes) file += big_endian_bytes(size);
  for (const T value : values) file += big_endian_bytes(value);
  return file;
}

}  // namespace podere::io
