// Which categories have a bin of their own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/table/table.h"
#include "podere/tree/cuts.h"

namespace podere::tree {

/// Replaces the cuts in `features` [n_features] of those that hold categories, whose has_missing is set already. The
/// categories that most rows have get a bin each, the most frequent first, of equally frequent ones the lower code. All
/// others share the last value bin. It is there in any case, so that categories of rows with a zero in `is_used`
/// [n_rows] change nothing: at most max_bins - 2 categories (or 1, if that is more) have their own. Collective: two
/// all_reduces, of a word for each feature and for each code. Throws InputError, on all ranks, for a value that is not
/// a code.
void find_category_bins(const table::Table& table, std::span<const std::uint8_t> is_used, int max_bins,
                        const comm::Communicator& comm, int n_threads, std::span<FeatureCuts> features);

}  // namespace podere::tree
