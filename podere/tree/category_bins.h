// Which categories have a bin of their own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/table/table.h"
#include "podere/tree/cuts.h"

namespace podere::tree {

/// Whether a value is the code of a category.
bool is_code(float value);
/// Throws InputError for a value of a feature of categories that is none.
[[noreturn]] void throw_is_no_code(const table::Table& table, std::size_t feature, table::LocalRow row);

/// How many rows have each category, counted window by window.
class CategoryCounts {
 public:
  explicit CategoryCounts(const table::Schema& schema);

  /// Counts the rows of `window` with `is_used` [n_rows] != 0. Throws InputError for a value that is not a code, of
  /// whatever row. Local.
  void take(const table::Table& window, std::span<const std::uint8_t> is_used, int n_threads);

  /// Replaces the cuts in `features` [n_features] of those that hold categories, whose has_missing is set already. The
  /// categories that most rows have get a bin each, the most frequent first, of equally frequent ones the lower code.
  /// All others share the last value bin. It is there in any case, so that categories of rows that are not used change
  /// nothing: at most max_bins - 2 categories (or 1, if that is more) have their own. Collective: two all_reduces, of a
  /// word for each feature and for each code.
  void find_bins(int max_bins, const comm::Communicator& comm, int n_threads, std::span<FeatureCuts> features) const;

 private:
  struct Column {
    std::size_t feature;
    std::vector<std::uint64_t> counts;  // by code
  };
  std::vector<Column> columns_;
};

}  // namespace podere::tree
