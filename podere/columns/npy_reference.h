// Files of NumPy for tests, written plainly.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace podere::columns {

/// A file with a header of this literal; `length_bytes` of 2 makes version 1, of 4 version 3.
inline std::string npy_file(std::string_view literal, std::string_view values, int length_bytes = 2) {
  std::string file = std::string("\x93NUMPY") + (length_bytes == 2 ? '\x01' : '\x03') + '\0';
  for (int i = 0; i < length_bytes; ++i) file += static_cast<char>(literal.size() >> 8 * i & 0xff);
  return file + std::string(literal) + std::string(values);
}

/// The header of an array without fields.
inline std::string npy_literal(std::string_view type, std::string_view shape, bool is_fortran = false) {
  return "{'descr': '" + std::string(type) + "', 'fortran_order': " + (is_fortran ? "True" : "False") +
         ", 'shape': " + std::string(shape) + ", }\n";
}

/// Values as they lie in this machine.
template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), sizeof(T) * values.size()};
}

/// A ZIP archive of members that are stored.
inline std::string zip_file(const std::vector<std::pair<std::string, std::string>>& members) {
  const auto number = [](std::uint64_t value, int n) {
    std::string bytes;
    for (; n > 0; --n, value >>= 8) bytes += static_cast<char>(value & 0xff);
    return bytes;
  };
  std::string file, directory;
  for (const auto& [name, content] : members) {
    const std::string sizes = number(0, 4) + number(content.size(), 4) + number(content.size(), 4);  // no checksum
    directory += "PK\x01\x02" + number(20, 2) + number(20, 2) + number(0, 8) + sizes + number(name.size(), 2) +
                 number(0, 12) + number(file.size(), 4) + name;
    file +=
        "PK\x03\x04" + number(20, 2) + number(0, 8) + sizes + number(name.size(), 2) + number(0, 2) + name + content;
  }
  return file + directory + "PK\x05\x06" + number(0, 4) + number(members.size(), 2) + number(members.size(), 2) +
         number(directory.size(), 4) + number(file.size(), 4) + number(0, 2);
}

}  // namespace podere::columns
