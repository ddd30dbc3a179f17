#include "podere/table/class_histograms.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "podere/base/hash.h"
#include "podere/base/parallel.h"
#include "podere/comm/weight_unit.h"

namespace podere::table {
namespace {

constexpr std::uint64_t kSampleStream = 0x636c686973746f67;
constexpr double kSampleRows = 4096;
constexpr double kTail = 0.005;          // of the sample, on each side
constexpr double kFarOut = 1.25;         // times the range without the tails: all values are shown up to this
constexpr std::size_t kMostCodes = 100;  // of categories that have a bin each

struct Range {
  double low = 0;
  double high = 0;
  std::size_t n_bins = 0;
};

/// Rows drawn by their numbers.
std::vector<std::size_t> sample_of_rows(const Table& table) {
  const double share = kSampleRows / std::max(kSampleRows, static_cast<double>(table.n_global_rows()));
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    if (uniform01(hash64(0, kSampleStream, table.global({i}).value)) < share) rows.push_back(i);
  }
  return rows;
}

/// Least and largest finite value of each feature over all ranks, infinite where there is none.
std::vector<Range> ranges_of_all(const Table& table, std::span<const std::size_t> features,
                                 const comm::Communicator& comm, int n_threads) {
  std::vector<float> least(features.size(), std::numeric_limits<float>::infinity());
  std::vector<float> largest(features.size(), -std::numeric_limits<float>::infinity());
  parallel_for(n_threads, features.size(), [&](std::size_t k, int) {
    for (const float value : table.feature(features[k])) {
      if (!std::isfinite(value)) continue;
      least[k] = std::min(least[k], value);
      largest[k] = std::max(largest[k], value);
    }
  });
  comm.all_reduce(std::span(least), comm::Reduction::kMin);
  comm.all_reduce(std::span(largest), comm::Reduction::kMax);
  std::vector<Range> ranges(features.size());
  for (std::size_t k = 0; k < features.size(); ++k) ranges[k] = {least[k], largest[k]};
  return ranges;
}

/// What is shown of numbers whose finite values lie in `all`, of which `sample` are some.
Range shown_range(const Range& all, std::vector<float> sample) {
  std::erase_if(sample, [](float value) { return !std::isfinite(value); });
  if (all.low == all.high) return {all.low - 0.5, all.high + 0.5};
  if (sample.size() < 2) return all;
  std::ranges::sort(sample);
  const auto tail = static_cast<std::size_t>(kTail * static_cast<double>(sample.size()));
  const double low = sample[tail];
  const double high = sample[sample.size() - 1 - tail];
  return low == high || all.high - all.low <= kFarOut * (high - low) ? all : Range{low, high};
}

/// How many codes a feature has, of which `highest` is the highest here; 0 for one without categories.
std::size_t codes_of(const Schema& schema, std::size_t feature, double highest) {
  const auto found = schema.categories.find(feature);
  if (found == schema.categories.end()) return 0;
  const std::size_t n_here = static_cast<std::size_t>(highest) + 1;
  return found->second ? std::max(n_here, found->second->size()) : n_here;
}

std::vector<Range> ranges_shown(const Table& table, std::span<const std::size_t> features, std::size_t n_bins,
                                const comm::Communicator& comm, int n_threads) {
  std::vector<Range> ranges = ranges_of_all(table, features, comm, n_threads);
  const std::vector<std::size_t> rows = sample_of_rows(table);
  std::vector<float> own;  // row by row, so that the gathered ones are [n_sampled x n_features]
  own.reserve(rows.size() * features.size());
  for (const std::size_t row : rows) {
    for (const std::size_t feature : features) own.push_back(table.feature(feature)[row]);
  }
  const std::vector<float> all = comm.all_gather_v(std::span<const float>(own));
  for (std::size_t k = 0; k < features.size(); ++k) {
    Range& range = ranges[k];
    if (range.low > range.high) {  // no value is finite
      range = {0, 0, n_bins};
    } else if (const std::size_t n_codes = codes_of(table.schema(), features[k], range.high);
               n_codes > 0 && n_codes <= kMostCodes) {
      range = {-0.5, static_cast<double>(n_codes) - 0.5, n_codes};
    } else {
      std::vector<float> sample;
      for (std::size_t i = k; i < all.size(); i += features.size()) sample.push_back(all[i]);
      range = shown_range(range, std::move(sample));
      range.n_bins = n_bins;
    }
  }
  return ranges;
}

/// Where a value counts: bins from 0, then below, above, missing.
std::size_t slot_of(float value, const Range& range) {
  if (std::isnan(value)) return range.n_bins + 2;
  if (value < range.low || range.low >= range.high) return range.n_bins + (value > range.low ? 1 : 0);
  if (value > range.high) return range.n_bins + 1;
  const double share = (value - range.low) / (range.high - range.low);
  return std::min(static_cast<std::size_t>(share * static_cast<double>(range.n_bins)), range.n_bins - 1);
}

}  // namespace

std::vector<ClassHistogram> class_histograms(const Table& table, std::span<const std::size_t> features,
                                             std::size_t n_classes, std::size_t n_bins, const comm::Communicator& comm,
                                             int n_threads) {
  const std::vector<Range> ranges = ranges_shown(table, features, n_bins, comm, n_threads);
  std::vector<std::size_t> begins = {0};  // of each feature in `units`
  for (const Range& range : ranges) begins.push_back(begins.back() + n_classes * (range.n_bins + 3));

  const comm::WeightUnit unit(comm, table.n_rows(), table.weight());
  std::vector<std::int64_t> units(begins.back(), 0);
  parallel_for(n_threads, features.size(), [&](std::size_t k, int) {
    const std::size_t n_slots = ranges[k].n_bins + 3;
    const auto values = table.feature(features[k]);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double label = n_classes == 1 ? 0 : table.label()[i];
      if (!(label >= 0 && label < static_cast<double>(n_classes))) continue;
      const float weight = table.weight().empty() ? 1 : table.weight()[i];
      units[begins[k] + static_cast<std::size_t>(label) * n_slots + slot_of(values[i], ranges[k])] +=
          unit.units(weight);
    }
  });
  comm.all_reduce(std::span(units), comm::Reduction::kSum);

  std::vector<ClassHistogram> histograms;
  for (std::size_t k = 0; k < features.size(); ++k) {
    ClassHistogram& histogram = histograms.emplace_back();
    histogram.low = ranges[k].low;
    histogram.high = ranges[k].high;
    const std::int64_t* next = units.data() + begins[k];
    for (std::size_t c = 0; c < n_classes; ++c) {
      auto& bins = histogram.weights.emplace_back();
      for (std::size_t bin = 0; bin < ranges[k].n_bins; ++bin) bins.push_back(unit.weight(*next++));
      for (auto* outside : {&histogram.below, &histogram.above, &histogram.missing}) {
        outside->push_back(unit.weight(*next++));
      }
    }
  }
  return histograms;
}

}  // namespace podere::table
