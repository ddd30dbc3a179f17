#include "podere/tree/cuts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hwy/contrib/sort/vqsort.h"
#include "podere/base/hash.h"
#include "podere/base/parallel.h"
#include "podere/tree/category_bins.h"
#include "podere/tree/streams.h"

namespace podere::tree {
namespace {

/// The cut between a < b: c with a < c <= b, finite.
float cut_between(float a, float b) {
  const float middle = a / 2 + b / 2;
  if (std::isfinite(middle) && middle > a && middle <= b) return middle;  // not for infinities nor for neighbors
  return std::isfinite(b) ? b : std::numeric_limits<float>::max();
}

/// What all windows of rows say about their features.
class Sample {
 public:
  /// Of `n_global_rows` about kCutSampleRows will be drawn.
  Sample(std::size_t n_features, std::uint64_t n_global_rows, std::uint64_t seed)
      : share_(static_cast<double>(kCutSampleRows) / static_cast<double>(n_global_rows)),
        seed_(seed),
        has_missing_(n_features),
        values_(n_features) {}

  /// Rows with a zero in `is_used` [n_rows] are looked at for missing values only.
  void take(const table::Table& window, std::span<const std::uint8_t> is_used, int n_threads) {
    const std::vector<std::uint32_t> rows = draw(window, is_used, n_threads);
    n_rows_ += rows.size();
    parallel_for(n_threads, values_.size(), [&](std::size_t j, int) {
      const std::span<const float> column = window.feature(j);
      int any = 0;
      for (const float value : column) any |= value != value ? 1 : 0;
      has_missing_[j] |= any;
      std::vector<float>& values = values_[j];
      values.resize(n_rows_);
      for (std::size_t i = 0; i < rows.size(); ++i) values[n_rows_ - rows.size() + i] = column[rows[i]];
    });
  }

  std::size_t n_rows() const { return n_rows_; }
  /// 1 for each feature that is missing in some row here.
  const std::vector<std::int32_t>& has_missing() const { return has_missing_; }

  /// The values of all features, one after the other [n_features x n_rows]. Leaves none here.
  std::vector<float> move_out() {
    std::vector<float> all;
    all.reserve(values_.size() * n_rows_);
    for (std::vector<float>& values : values_) {
      all.insert(all.end(), values.begin(), values.end());
      values = std::vector<float>();
    }
    return all;
  }

 private:
  /// Rows of the window, rising.
  std::vector<std::uint32_t> draw(const table::Table& window, std::span<const std::uint8_t> is_used,
                                  int n_threads) const {
    constexpr std::size_t kGrain = 65536;
    std::vector<std::vector<std::uint32_t>> of_slices((window.n_rows() + kGrain - 1) / kGrain);
    parallel_for_slices(n_threads, window.n_rows(), kGrain, [&](std::size_t begin, std::size_t end, int) {
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint64_t hash = hash64(seed_, kCutStream, window.global({i}).value);
        if (is_used[i] != 0 && uniform01(hash) < share_)
          of_slices[begin / kGrain].push_back(static_cast<std::uint32_t>(i));
      }
    });
    std::vector<std::uint32_t> rows;
    for (const auto& slice : of_slices) rows.insert(rows.end(), slice.begin(), slice.end());
    return rows;
  }

  double share_;
  std::uint64_t seed_;
  std::size_t n_rows_ = 0;
  std::vector<std::int32_t> has_missing_;
  std::vector<std::vector<float>> values_;  // by feature [n_rows_]
};

std::vector<float> cuts_of_sample(std::span<float> values, bool has_missing, int max_bins) {
  const auto end = std::remove_if(values.begin(), values.end(), [](float value) { return value != value; });
  values = values.first(static_cast<std::size_t>(end - values.begin()));
  for (float& value : values) value += 0.0F;  // -0 becomes 0: equal values are the same bits, in whatever order
  hwy::Sorter()(values.data(), values.size(), hwy::SortAscending());
  if (!has_missing) return quantile_cuts(values, max_bins);
  // One bin is for missing values; one above the largest value lets a split separate missing from all others.
  std::vector<float> cuts = quantile_cuts(values, std::max(1, max_bins - 2));
  if (!values.empty()) {
    const float above = std::nextafter(values.back(), std::numeric_limits<float>::infinity());
    if (std::isfinite(above) && (cuts.empty() || above > cuts.back())) cuts.push_back(above);
  }
  return cuts;
}

}  // namespace

std::vector<float> quantile_cuts(std::span<const float> values, int max_bins) {
  std::vector<float> cuts;
  std::size_t n_distinct = 0;
  for (std::size_t i = 0; i < values.size(); ++i) n_distinct += i == 0 || values[i] != values[i - 1] ? 1 : 0;
  const bool each_its_own = n_distinct <= static_cast<std::size_t>(max_bins);
  std::size_t bin_begin = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i] == values[i - 1]) continue;
    // The bins that are left share the values that are left.
    const std::size_t bins_left = static_cast<std::size_t>(max_bins) - cuts.size();
    if (bins_left < 2) break;
    if (each_its_own || (i - bin_begin) * bins_left >= values.size() - bin_begin) {
      cuts.push_back(cut_between(values[i - 1], values[i]));
      bin_begin = i;
    }
  }
  return cuts;
}

std::vector<FeatureCuts> find_cuts(const table::RowSource& rows, std::span<const std::uint8_t> is_used, int max_bins,
                                   std::uint64_t seed, const comm::Communicator& comm, int n_threads) {
  const std::size_t n_features = rows.schema().features.size();
  const auto n_ranks = static_cast<std::size_t>(comm.size());
  Sample sample(n_features, rows.labels().n_global_rows(), seed);
  CategoryCounts categories(rows.schema());
  comm.agree([&] {
    rows.for_each_window([&](const table::Table& window) {
      const auto here = is_used.subspan(window.rows().begin - rows.labels().rows().begin, window.n_rows());
      sample.take(window, here, n_threads);
      categories.take(window, here, n_threads);
    });
  });
  std::vector<std::int32_t> has_missing = sample.has_missing();
  comm.all_reduce(std::span(has_missing), comm::Reduction::kMax);

  // Rank r finds the cuts of its slice of the features: it receives their sampled values from all ranks.
  std::vector<std::size_t> counts(n_ranks);
  for (std::size_t r = 0; r < n_ranks; ++r) {
    const Slice slice = slice_of(n_features, r, n_ranks);
    counts[r] = (slice.end - slice.begin) * sample.n_rows();
  }
  std::vector<float> received = sample.move_out();
  if (n_ranks > 1) received = comm.all_to_all_v(std::span<const float>(received), counts);
  const std::vector<std::uint64_t> rows_from = comm.all_gather(static_cast<std::uint64_t>(sample.n_rows()));

  const Slice own = slice_of(n_features, static_cast<std::size_t>(comm.rank()), n_ranks);
  const std::size_t n_own = own.end - own.begin;
  std::vector<std::vector<float>> own_cuts(n_own);
  parallel_for(n_threads, n_own, [&](std::size_t j, int) {
    std::vector<float> values;
    std::size_t run = 0;
    for (const std::uint64_t n : rows_from) {
      const auto first = received.begin() + static_cast<std::ptrdiff_t>(run + j * n);
      values.insert(values.end(), first, first + static_cast<std::ptrdiff_t>(n));
      run += n_own * n;
    }
    own_cuts[j] = cuts_of_sample(values, has_missing[own.begin + j] != 0, max_bins);
  });

  std::vector<float> own_values;
  std::vector<std::uint64_t> own_sizes;
  for (const std::vector<float>& cuts : own_cuts) {
    own_values.insert(own_values.end(), cuts.begin(), cuts.end());
    own_sizes.push_back(cuts.size());
  }
  const std::vector<float> values = comm.all_gather_v(std::span<const float>(own_values));
  const std::vector<std::uint64_t> sizes = comm.all_gather_v(std::span<const std::uint64_t>(own_sizes));
  std::vector<FeatureCuts> features(n_features);
  auto next = values.begin();
  for (std::size_t j = 0; j < n_features; ++j) {
    const auto end = next + static_cast<std::ptrdiff_t>(sizes[j]);
    features[j] = {.cuts = std::vector<float>(next, end), .has_missing = has_missing[j] != 0};
    next = end;
  }
  categories.find_bins(max_bins, comm, n_threads, features);
  return features;
}

}  // namespace podere::tree
