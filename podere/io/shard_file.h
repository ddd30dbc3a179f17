// One file of a shard cache: rows of a table, as they lie in memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "podere/io/file.h"
#include "podere/table/table.h"

namespace podere::io {

/// What a shard says of itself. Numbers in the file are little-endian.
///
///       0  "PODSHARD"
///       8  version (4 bytes)
///      12  CRC-32 of bytes [16, header_bytes) (4 bytes)
///      16  header_bytes (8 bytes)
///      24  json_bytes (8 bytes)
///      32  JSON: schema with dictionaries, rows of the whole table, rows held here
///          CRC-32 of column 0, chunk 0; column 0, chunk 1; ... to header_bytes (4 bytes each)
///          columns: features, label, weight; each begins at a multiple of 64 bytes, after zeros, and so ends the file
///
/// A chunk is kChunkRows rows of one column, the last of a column perhaps fewer: who needs few rows checks few.
struct ShardHeader {
  static constexpr std::size_t kChunkRows = std::size_t{1} << 16;
  static constexpr std::size_t kFixedBytes = 32;

  table::Schema schema;
  std::uint64_t n_global_rows = 0;
  table::RowRange rows;
  std::vector<std::uint32_t> checksums;  // [n_columns x n_chunks]

  std::size_t n_columns() const {
    return schema.features.size() + (schema.label ? 1U : 0U) + (schema.weight ? 1U : 0U);
  }
  std::size_t n_chunks() const { return static_cast<std::size_t>((rows.size() + kChunkRows - 1) / kChunkRows); }
  /// Of a column, with the zeros behind it.
  std::uint64_t column_bytes() const { return (rows.size() * sizeof(float) + 63) / 64 * 64; }
  /// Whether they are parts of the same table, as far as headers show.
  bool is_same_table(const ShardHeader& other) const {
    return n_global_rows == other.n_global_rows && schema == other.schema;
  }

  /// The JSON part. Throws Error for names that are not UTF-8.
  std::string to_json() const;
  /// Reads the JSON part, without checksums; nothing if it is no such text, or rows do not lie in the table.
  static std::optional<ShardHeader> from_json(const std::string& text);
};

/// A shard that is open for reading, whose header was found whole.
class ShardFile {
 public:
  /// Nothing if it is not there, is cut short, has been altered or is of another version.
  static std::optional<ShardFile> open(const std::filesystem::path& path);

  const ShardHeader& header() const { return header_; }

  /// Sets `values` [rows.size()] to those of `column` in `rows`, by global number, which must lie in the shard. Goes by
  /// the checksums; false if the file has been altered. Thread-safe. Throws Error if it cannot be read.
  bool read(std::size_t column, table::RowRange rows, std::span<float> values) const;

 private:
  ShardFile(File file, ShardHeader header, std::uint64_t columns_begin)
      : file_(std::move(file)), header_(std::move(header)), columns_begin_(columns_begin) {}

  File file_;
  ShardHeader header_;
  std::uint64_t columns_begin_;
};

/// Writes the rows held here as a shard, whole or not at all. Throws Error.
void write_shard_file(const std::filesystem::path& path, const table::Table& table, int n_threads);

}  // namespace podere::io
