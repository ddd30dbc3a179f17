// What tests of pictures stand on.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "podere/image/decode.h"

namespace podere::image {

inline const std::filesystem::path kTestPictures = std::filesystem::path(PODERE_TEST_DATA) / "images";

inline std::vector<std::uint8_t> bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::vector<std::uint8_t>(std::istreambuf_iterator<char>(in), {});
}

inline Picture decode_test_picture(const std::string& name, const DecodeOptions& options = {}) {
  return decode(bytes_of(kTestPictures / name), name, options);
}

/// What is wrong with bytes; empty: nothing.
inline std::string fault_of(Bytes bytes, const DecodeOptions& options = {}) {
  try {
    decode(bytes, "x.tif", options);
    return "";
  } catch (const PictureFault& fault) {
    return fault.what();
  }
}

/// A little-endian TIFF of one strip, that is not packed unless its tags say so.
class TestTiff {
 public:
  TestTiff(std::uint32_t width, std::uint32_t height, std::string pixels) : pixels_(std::move(pixels)) {
    set(256, width).set(257, height).set(258, 8).set(259, 1).set(262, 1).set(277, 1);
  }
  /// A tag of one 32-bit number.
  TestTiff& set(std::uint16_t tag, std::uint32_t value) {
    for (auto& entry : entries_) {
      if (entry.first == tag) entry.second = value;
    }
    if (std::none_of(entries_.begin(), entries_.end(), [&](const auto& entry) { return entry.first == tag; })) {
      entries_.emplace_back(tag, value);
    }
    std::sort(entries_.begin(), entries_.end());
    return *this;
  }
  std::vector<std::uint8_t> bytes() {
    set(279, static_cast<std::uint32_t>(pixels_.size()));
    set(273, 0);
    set(273, static_cast<std::uint32_t>(8 + 2 + 12 * entries_.size() + 4));
    std::string text("II*\0\x08\0\0\0", 8);
    append(text, entries_.size(), 2);
    for (const auto& [tag, value] : entries_) {
      append(text, tag, 2);
      append(text, 4, 2);
      append(text, 1, 4);
      append(text, value, 4);
    }
    append(text, 0, 4);
    text += pixels_;
    return {text.begin(), text.end()};
  }

 private:
  static void append(std::string& text, std::uint64_t value, int n_bytes) {
    for (int i = 0; i < n_bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  }
  std::string pixels_;
  std::vector<std::pair<std::uint16_t, std::uint32_t>> entries_;
};

/// Numbers as they lie in memory.
template <typename T>
std::string memory_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace podere::image
