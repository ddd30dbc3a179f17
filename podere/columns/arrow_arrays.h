// The loops over values of an Arrow file's arrays, a tile at a time.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "podere/columns/arrow_message.h"
#include "podere/columns/arrow_number.h"
#include "podere/columns/arrow_schema.h"
#include "podere/columns/arrow_unpack.h"
#include "podere/io/load_lines.h"
#include "podere/table/row.h"

namespace podere::columns {

inline constexpr std::size_t kArrowTileRows = 4096;
inline constexpr std::uint64_t kMostArrowTextBytes = io::kMostLineBytes;

inline ArrowBuffer open_arrow_buffer(const ArrowBytes& bytes, const ArrowArray& array, std::size_t index) {
  if (index >= array.buffers.size()) throw ArrowDamage{"its record batch has fewer buffers than the columns need"};
  return {*bytes.source, array.buffers[index], array.codec};
}

/// What may be held of a file at once: of packed ones, enough for all but those that were made to harm.
inline std::uint64_t most_arrow_bytes(const ArrowBytes& bytes) { return (std::uint64_t{256} << 20) + 64 * bytes.size; }

inline void check_arrow_bytes(const ArrowBytes& bytes, std::uint64_t n_bytes) {
  if (n_bytes <= most_arrow_bytes(bytes)) return;
  throw ArrowDamage{fmt::format(
      "its values take {} bytes of memory, far more than the file has; write it again in smaller batches or "
      "without compression",
      n_bytes)};
}

/// Bits of a buffer from `begin` to `end`, one after another, the lowest of a byte first.
class ArrowBits {
 public:
  ArrowBits(ArrowBuffer buffer, std::uint64_t begin, std::uint64_t end)
      : buffer_(std::move(buffer)), bytes_left_((end + 7) / 8 - begin / 8), bit_(begin % 8) {
    buffer_.skip(begin / 8);
    fill();
  }

  bool next() {
    if (bit_ == 8 * n_bytes_) {
      fill();
      bit_ = 0;
    }
    const bool is_set = (bytes_[bit_ / 8] >> bit_ % 8 & 1) != 0;
    ++bit_;
    return is_set;
  }

 private:
  void fill() {
    n_bytes_ = static_cast<std::size_t>(std::min<std::uint64_t>(bytes_.size(), bytes_left_));
    buffer_.read({reinterpret_cast<char*>(bytes_.data()), n_bytes_});
    bytes_left_ -= n_bytes_;
  }

  ArrowBuffer buffer_;
  std::uint64_t bytes_left_;
  std::array<std::uint8_t, 4096> bytes_;
  std::size_t n_bytes_ = 0;
  std::size_t bit_;
};

/// Which rows have values.
class ArrowValidity {
 public:
  ArrowValidity(const ArrowBytes& bytes, const ArrowArray& array, table::RowRange rows) {
    if (array.has_missing) bits_.emplace(open_arrow_buffer(bytes, array, 0), rows.begin, rows.end);
  }
  bool next() { return !bits_ || bits_->next(); }

 private:
  std::optional<ArrowBits> bits_;
};

/// Calls take(i, value), i from 0 on, for each value of `n_bytes` bytes that is not missing.
template <typename Take>
void each_arrow_fixed(const ArrowBytes& bytes, const ArrowArray& array, std::size_t n_bytes, table::RowRange rows,
                      const Take& take) {
  ArrowBuffer values = open_arrow_buffer(bytes, array, 1);
  if (rows.end > values.size() / n_bytes) throw ArrowDamage{"a buffer is shorter than its rows need"};
  values.skip(rows.begin * n_bytes);
  ArrowValidity validity(bytes, array, rows);
  std::vector<std::uint8_t> tile(std::min<std::size_t>(kArrowTileRows, rows.size()) * n_bytes);
  const auto n_rows = static_cast<std::size_t>(rows.size());
  for (std::size_t begin = 0; begin < n_rows; begin += kArrowTileRows) {
    const std::size_t n = std::min(kArrowTileRows, n_rows - begin);
    values.read({reinterpret_cast<char*>(tile.data()), n * n_bytes});
    for (std::size_t i = 0; i < n; ++i) {
      if (validity.next()) take(begin + i, tile.data() + i * n_bytes);
    }
  }
}

template <typename T, typename Take>
void each_arrow_number(const ArrowBytes& bytes, const ArrowArray& array, table::RowRange rows, const Take& take) {
  each_arrow_fixed(bytes, array, sizeof(T), rows, [&](std::size_t row, const std::uint8_t* p) {
    T value;
    std::memcpy(&value, p, sizeof value);
    take(row, value);
  });
}

template <typename Take>
void each_arrow_bool(const ArrowBytes& bytes, const ArrowArray& array, table::RowRange rows, const Take& take) {
  ArrowBits values(open_arrow_buffer(bytes, array, 1), rows.begin, rows.end);
  ArrowValidity validity(bytes, array, rows);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const bool value = values.next();
    if (validity.next()) take(row, value);
  }
}

inline void check_arrow_text(std::uint64_t n_bytes) {
  if (n_bytes <= kMostArrowTextBytes) return;
  throw ArrowDamage{fmt::format("has a text of {} bytes; allowed are {}", n_bytes, kMostArrowTextBytes)};
}

template <typename Offset, typename Take>
void each_arrow_text(const ArrowBytes& bytes, const ArrowArray& array, table::RowRange rows, const Take& take) {
  ArrowBuffer texts = open_arrow_buffer(bytes, array, 2);
  ArrowBuffer ends = open_arrow_buffer(bytes, array, 1);
  ArrowValidity validity(bytes, array, rows);
  const auto next = [&] {
    Offset offset;
    ends.read({reinterpret_cast<char*>(&offset), sizeof offset});
    return static_cast<std::uint64_t>(offset);
  };
  ends.skip(rows.begin * sizeof(Offset));
  std::uint64_t begin = next();
  texts.skip(begin);
  std::string text;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::uint64_t end = next();
    if (end < begin || end > texts.size()) throw ArrowDamage{"the places of its texts are damaged"};
    if (!validity.next()) {
      texts.skip(end - begin);
    } else {
      check_arrow_text(end - begin);
      text.resize(static_cast<std::size_t>(end - begin));
      texts.read(text);
      take(row, std::string_view(text));
    }
    begin = end;
  }
}

/// Texts of views. A view has 16 bytes:
///
///     length: 4 | text of at most 12, or: its begin: 4, buffer: 4, place there: 4
template <typename Take>
void each_arrow_view(const ArrowBytes& bytes, const ArrowArray& array, table::RowRange rows, const Take& take) {
  constexpr std::size_t kViewBytes = 16, kMostInside = 12, kOwnBuffers = 2;
  std::vector<std::optional<std::vector<char>>> buffers(array.n_view_buffers);
  std::uint64_t n_held = 0;
  const auto load = [&](std::size_t index) -> const std::vector<char>& {
    if (index >= buffers.size()) throw ArrowDamage{"the places of its texts are damaged"};
    if (!buffers[index]) {
      ArrowBuffer buffer = open_arrow_buffer(bytes, array, kOwnBuffers + index);
      check_arrow_bytes(bytes, n_held += std::min(buffer.size(), most_arrow_bytes(bytes) + 1));
      buffers[index] = buffer.read_rest();
    }
    return *buffers[index];
  };
  each_arrow_fixed(bytes, array, kViewBytes, rows, [&](std::size_t row, const std::uint8_t* view) {
    std::array<std::uint32_t, 4> words;
    std::memcpy(words.data(), view, kViewBytes);
    const std::uint32_t n = words[0];
    if (n <= kMostInside) return take(row, std::string_view(reinterpret_cast<const char*>(view) + 4, n));
    const std::vector<char>& buffer = load(words[2]);
    check_arrow_text(n);
    if (words[3] > buffer.size() || n > buffer.size() - words[3]) {
      throw ArrowDamage{"the places of its texts are damaged"};
    }
    take(row, std::string_view(buffer.data() + words[3], n));
  });
}

/// Calls take(i, value), i from 0 on, for each that is not missing.
template <typename Take>
void each_arrow_value(const ArrowBytes& bytes, const ArrowArray& array, ArrowStorage storage, const ArrowType& type,
                      table::RowRange rows, const Take& take) {
  if (rows.size() == 0) return;  // then there may be no offsets at all
  switch (storage) {
    case ArrowStorage::kNull:
      return;
    case ArrowStorage::kBool:
      return each_arrow_bool(bytes, array, rows, take);
    case ArrowStorage::kInt8:
      return each_arrow_number<std::int8_t>(bytes, array, rows, take);
    case ArrowStorage::kInt16:
      return each_arrow_number<std::int16_t>(bytes, array, rows, take);
    case ArrowStorage::kInt32:
      return each_arrow_number<std::int32_t>(bytes, array, rows, take);
    case ArrowStorage::kInt64:
      return each_arrow_number<std::int64_t>(bytes, array, rows, take);
    case ArrowStorage::kUint8:
      return each_arrow_number<std::uint8_t>(bytes, array, rows, take);
    case ArrowStorage::kUint16:
      return each_arrow_number<std::uint16_t>(bytes, array, rows, take);
    case ArrowStorage::kUint32:
      return each_arrow_number<std::uint32_t>(bytes, array, rows, take);
    case ArrowStorage::kUint64:
      return each_arrow_number<std::uint64_t>(bytes, array, rows, take);
    case ArrowStorage::kHalf:
      return each_arrow_number<std::uint16_t>(bytes, array, rows,
                                              [&](std::size_t row, std::uint16_t half) { take(row, from_half(half)); });
    case ArrowStorage::kFloat:
      return each_arrow_number<float>(bytes, array, rows, take);
    case ArrowStorage::kDouble:
      return each_arrow_number<double>(bytes, array, rows, take);
    case ArrowStorage::kDecimal:
      return each_arrow_fixed(bytes, array, type.n_bytes, rows, [&](std::size_t row, const std::uint8_t* p) {
        take(row, ArrowDecimal{decimal_text(p, type.n_bytes, type.scale)});
      });
    case ArrowStorage::kText:
      return each_arrow_text<std::uint32_t>(bytes, array, rows, take);
    case ArrowStorage::kLargeText:
      return each_arrow_text<std::uint64_t>(bytes, array, rows, take);
    case ArrowStorage::kTextView:
      return each_arrow_view(bytes, array, rows, take);
    case ArrowStorage::kOther:
      throw ArrowDamage{fmt::format("no table can have it ({})", type.text)};
  }
}

}  // namespace podere::columns
