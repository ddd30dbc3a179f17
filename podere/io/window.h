// A window that one thread moves over the bytes of a source.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "podere/io/byte_source.h"

namespace podere::io {

/// Bytes [offset, offset + size) of a source, with a line end behind them and kPadding bytes that may be read. Only
/// ever reads on. Keeps its memory for the next source.
class Window {
 public:
  static constexpr std::size_t kPadding = 64;

  /// Looks at no bytes yet, at the place of `cursor`.
  void start(std::unique_ptr<ByteCursor> cursor, std::uint64_t offset) {
    cursor_ = std::move(cursor);
    offset_ = offset;
    size_ = 0;
    is_at_end_ = false;
  }

  /// Moves on to begin at `offset`, which must not lie behind the end, and to hold at least `n_bytes`, as far as there
  /// are.
  void move_to(std::uint64_t offset, std::size_t n_bytes) {
    const std::size_t dropped = static_cast<std::size_t>(std::min<std::uint64_t>(offset - offset_, size_));
    size_ -= dropped;
    offset_ += dropped;
    if (dropped > 0 && size_ > 0) std::memmove(buffer_.data(), buffer_.data() + dropped, size_);
    if (size_ < n_bytes) grow(n_bytes - size_);
  }

  /// Takes in up to `n_bytes` more; false if there are none.
  bool grow(std::size_t n_bytes) {
    if (is_at_end_) return false;
    if (buffer_.size() < size_ + n_bytes + kPadding) buffer_.resize(size_ + n_bytes + kPadding);
    const std::size_t n = cursor_->read({buffer_.data() + size_, n_bytes});
    is_at_end_ = n < n_bytes;
    size_ += n;
    buffer_[size_] = '\n';
    return n > 0;
  }

  const char* begin() const { return buffer_.data(); }
  const char* end() const { return buffer_.data() + size_; }
  /// The byte at `offset` in the source, or the end if that comes first.
  const char* at(std::uint64_t offset) const { return begin() + std::min<std::uint64_t>(offset - offset_, size_); }
  std::uint64_t offset_of(const char* p) const { return offset_ + static_cast<std::uint64_t>(p - begin()); }
  /// Whether nothing comes behind the window.
  bool is_at_end() const { return is_at_end_; }

 private:
  std::unique_ptr<ByteCursor> cursor_;
  std::vector<char> buffer_;
  std::uint64_t offset_ = 0;
  std::size_t size_ = 0;
  bool is_at_end_ = false;
};

}  // namespace podere::io
