// Bytes that arrive piece by piece, as lines.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace podere {

/// Looks at each byte once, however long the lines are and wherever they were cut.
class LineBuffer {
 public:
  void append(std::string_view bytes) {
    bytes_.erase(0, begin_);
    scanned_ -= std::exchange(begin_, 0);
    bytes_ += bytes;
  }
  /// The next line that is here in whole, without its newline.
  std::optional<std::string> take_line() {
    const auto end = bytes_.find('\n', scanned_);
    scanned_ = end == std::string::npos ? bytes_.size() : end + 1;
    if (end == std::string::npos) return std::nullopt;
    const auto begin = std::exchange(begin_, end + 1);
    return bytes_.substr(begin, end - begin);
  }
  /// All that take_line() has not returned.
  std::string take_rest() { return bytes_.substr(std::exchange(begin_, scanned_ = bytes_.size())); }
  /// Of what take_rest() would return.
  std::size_t size() const { return bytes_.size() - begin_; }

 private:
  std::string bytes_;
  std::size_t begin_ = 0;    // what lies before was returned
  std::size_t scanned_ = 0;  // bytes before hold no newline
};

}  // namespace podere
