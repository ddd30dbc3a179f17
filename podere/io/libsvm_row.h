// Rows of sparse text to rows of numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "podere/io/csv_layout.h"
#include "podere/io/rounded_wholes.h"

namespace podere::io {

struct LibsvmLayout {
  static constexpr std::uint32_t kSkipped = 0xffffffff;
  std::uint64_t first_index = 1;       ///< 0 or 1
  std::vector<std::uint32_t> columns;  ///< of the table, by feature; kSkipped if it has none
  std::size_t n_features = 0;          ///< of the table, behind which it has the label
};

/// The last index in the line at `p`, which may be any text; nothing if it has none. Sets `next` to the begin of the
/// next line. Throws TextFault for one that no table has room for.
std::optional<std::uint64_t> last_index(const char* p, const char* end, const char*& next);

/// Parses rows of one layout. For one thread; borrows what it is made of.
class LibsvmParser {
 public:
  LibsvmParser(const LibsvmLayout& layout, const MissingTokens& missing, RoundedWholes& rounded)
      : layout_(layout), missing_(missing), rounded_(rounded) {}

  /// Parses the row at `p`, as LineReader::read. Sets values [features of the table, label], and notes those that are
  /// rounded; returns the begin of the next line. Throws TextFault for a row that is none.
  const char* parse(const char* p, const char* end, float* values) const;

 private:
  void note_if_rounded(std::uint32_t column, std::string_view text, float number) const;
  const char* parse_number(const char* p, std::optional<std::uint64_t> index, float& value) const;
  const char* parse_index(const char* p, const char* end, std::optional<std::uint64_t> previous,
                          std::uint64_t& index) const;

  const LibsvmLayout& layout_;
  const MissingTokens& missing_;
  RoundedWholes& rounded_;
};

}  // namespace podere::io
