// Which rows of a source become a table.
#pragma once

#include <cstdint>
#include <optional>

namespace podere::io {

/// Rows [first_row, last_row) of a source.
struct RowSelection {
  std::uint64_t first_row = 0;
  std::optional<std::uint64_t> last_row = {};  ///< unset: to the end

  bool is_all() const { return first_row == 0 && !last_row; }
};

}  // namespace podere::io
