// Rows that come over a connection as frames: some rows at a time, column by column.
//
//     hello   8 bytes "PODEROW1", u32 length and bytes of the token, then what the caller asks
//
//     frame   u32 n_rows > 0; of each block, the label, the weight: u8 element (table::Element), values without gaps
//
//     end     u32 0, u64 rows of all frames
//
//     answer  u8 code, u32 length and bytes of a text
//
// All numbers are little-endian. A block is some features that lie side by side, row by row: a column, or the elements
// of an array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "podere/base/tcp.h"
#include "podere/io/rounded_wholes.h"
#include "podere/table/table.h"

namespace podere::io {

inline constexpr std::string_view kRowsMagic = "PODEROW1";
inline constexpr std::size_t kMostFrameBytes = std::size_t{256} << 20;

/// What the values of a frame are.
struct RowLayout {
  table::Schema schema;
  std::vector<std::size_t> blocks;  ///< how many features each has; together all of the schema
};

/// Throws InputError unless the blocks are the features.
void check_layout(const RowLayout& layout);

/// Fills the bytes, or throws.
using ReadBytes = std::function<void(std::span<std::byte>)>;

template <typename T>
T read_number(const ReadBytes& read) {
  T number{};
  read(std::as_writable_bytes(std::span(&number, 1)));
  return number;
}

/// Reads a hello. Throws InputError for one that is none, or has another token, compared in constant time.
void check_hello(const ReadBytes& read, std::string_view token);

enum class Answer : std::uint8_t { kOk = 0, kHaveIt = 1, kRefused = 2 };
void write_answer(TcpSocket& socket, Answer answer, std::string_view text = {});

/// Reads the frames of one partition. Checks every length before it takes memory.
class FrameReader {
 public:
  /// `name` is that of the partition, for messages. The layout must stay.
  FrameReader(const RowLayout& layout, std::string name, ReadBytes read)
      : layout_(layout), name_(std::move(name)), read_(std::move(read)) {}

  /// The rows of the next frame, as float32; their numbers count from the begin of the partition. Nothing after the
  /// last. Whole numbers that were rounded are noted in `rounded`. Throws InputError for what is no frame, for infinite
  /// values and for missing labels, and what `read` throws.
  std::optional<table::Table> next(RoundedWholes& rounded);

  std::uint64_t n_rows() const { return n_rows_; }

 private:
  /// The values of one block, held until the next is read.
  table::StridedMatrix read_block(std::size_t n_rows, std::size_t n_columns);
  void read_column(std::string_view column, std::span<float> to);

  const RowLayout& layout_;
  std::string name_;
  ReadBytes read_;
  std::uint64_t n_rows_ = 0;
  std::vector<std::byte> bytes_;
};

}  // namespace podere::io
