// Where the bins of each feature begin and end.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/table/row_source.h"

namespace podere::tree {

/// The bins of one feature. The bin of a value is the number of cuts at or below it, so value bins are 0 ..
/// cuts.size(); a missing value has the bin after these.
struct FeatureCuts {
  std::vector<float> cuts;  ///< rising, finite
  bool has_missing = false;
  /// Bin b holds the category with code cuts[b], the bin after these all other categories (category_bins.h).
  bool is_categorical = false;
  int missing_bin() const { return static_cast<int>(cuts.size()) + 1; }
  int n_bins() const { return static_cast<int>(cuts.size()) + 1 + (has_missing ? 1 : 0); }
};

/// Cuts that put about equally many of `values` [n], which are sorted and not NaN, into each of at most `max_bins`
/// bins. A value that alone fills a bin gets one; where there are no more than max_bins distinct values, each gets its
/// own. Cuts lie half-way between neighboring distinct values.
std::vector<float> quantile_cuts(std::span<const float> values, int max_bins);

/// Cuts of all features [n_features], the same on every rank, for at most `max_bins` bins including the missing one
/// (or 3 bins where values are missing, if that is more).
/// From all rows where there are few, else from about kCutSampleRows of them, chosen by hash of (seed, global row).
/// Rows with a zero in `is_used` [n_rows] are passed over. Goes through the rows once. Collective: one all_reduce
/// of flags, one all_to_all_v of the sample, one all_gather of its sizes, two all_gather_v of the cuts and their sizes.
/// Throws InputError, on all ranks, if the rows cannot be read or a category is none.
std::vector<FeatureCuts> find_cuts(const table::RowSource& rows, std::span<const std::uint8_t> is_used, int max_bins,
                                   std::uint64_t seed, const comm::Communicator& comm, int n_threads);

inline constexpr std::uint64_t kCutSampleRows = 1 << 17;

}  // namespace podere::tree
