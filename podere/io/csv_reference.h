// What the tests and the fuzzer of the reader stand on: the plainest reader there can be, and files to try.
#pragma once

#include <unistd.h>
#include <zlib.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "podere/table/table.h"

namespace podere::io {

/// The fields of well-formed text, character by character. Blank lines at the end are left out.
inline std::vector<std::vector<std::string>> reference_rows(std::string_view text, char delimiter) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
  bool in_quotes = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_quotes && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      rows.back().back() += text[++i];
    } else if (c == '"') {
      in_quotes = !in_quotes;
    } else if (!in_quotes && c == delimiter) {
      rows.back().emplace_back();
    } else if (!in_quotes && c == '\n') {
      rows.emplace_back(1);
    } else if (in_quotes || c != '\r') {
      rows.back().back() += c;
    }
  }
  return rows;
}

/// The number that all of `text` spells, by the C library; NaN for an empty field.
inline float reference_value(const std::string& text) {
  return text.empty() ? std::numeric_limits<float>::quiet_NaN() : std::strtof(text.c_str(), nullptr);
}

/// The bits of column after column: features, label, weight. NaN has one spelling here.
inline std::vector<std::uint32_t> table_bits(const table::Table& table) {
  std::vector<std::uint32_t> bits;
  const auto append = [&](std::span<const float> column) {
    for (const float value : column) bits.push_back(value == value ? std::bit_cast<std::uint32_t>(value) : 0x7fc00000);
  };
  for (std::size_t j = 0; j < table.n_features(); ++j) append(table.feature(j));
  append(table.label());
  append(table.weight());
  return bits;
}

/// `text` as one member of a gzip file.
inline std::string gzip(std::string_view text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

inline std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A file in the directory for temporary files, as long as this lives.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view text) {
    std::string name = (std::filesystem::temp_directory_path() / "podere-csv-XXXXXX").string();
    close(mkstemp(name.data()));
    path_ = name;
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace podere::io
