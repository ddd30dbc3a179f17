#include "podere/tree/weighted_quantile.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>

#include "podere/tree/fixed_point.h"

namespace podere::tree {
namespace {

constexpr int kDigitBits = 8;
constexpr std::size_t kDigits = 1 << kDigitBits;
constexpr std::size_t kMaxGroups = 4096;  // bounds the memory: 8 MiB of digit weights
constexpr std::size_t kRunValues = 8192;

/// Keys rise as values do.
std::uint32_t key_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value + 0.0F);  // -0 becomes 0
  return bits >> 31 != 0 ? ~bits : bits | 0x80000000U;
}
float value_of(std::uint32_t key) { return std::bit_cast<float>(key >> 31 != 0 ? key & 0x7fffffffU : ~key); }

/// What is known of a group's quantile after some digits of its key.
struct Search {
  std::uint32_t key = 0;     // the digits found, zeros below them
  std::int64_t below = 0;    // sum of weights of keys below it
  std::int64_t wanted = -1;  // the sum of weights that the quantile reaches first; 0: the group has no quantile
};

/// Reads the next digit from the group's weights by digit [kDigits].
void descend(std::span<const std::int64_t> weights, double q, int shift, Search& search) {
  if (search.wanted < 0) {
    std::int64_t total = 0;
    for (const std::int64_t weight : weights) total += weight;
    search.wanted = total > 0 ? std::clamp(static_cast<std::int64_t>(std::ceil(q * static_cast<double>(total))),
                                           std::int64_t{1}, total)
                              : 0;
  }
  if (search.wanted == 0) return;
  // Below the first digit's bin the sum does not reach what is wanted, at its end it does: so in one of its bins.
  std::size_t digit = 0;
  while (search.below + weights[digit] < search.wanted) search.below += weights[digit++];
  search.key |= static_cast<std::uint32_t>(digit) << shift;
}

/// digit_weights[group * kDigits + digit] = sum of weights, here, of the group's values that share the digits above.
void add_digit_weights(const WeightedValues& all, std::span<const Slice> groups, std::span<const Search> searches,
                       int shift, int n_threads, std::span<std::int64_t> digit_weights) {
  struct Run {
    std::size_t group;
    Slice slice;
  };
  std::vector<Run> runs;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (std::size_t begin = groups[i].begin; begin < groups[i].end; begin += kRunValues) {
      runs.push_back({i, {begin, std::min(begin + kRunValues, groups[i].end)}});
    }
  }
  const std::uint32_t known = shift + kDigitBits == 32 ? 0 : ~0U << (shift + kDigitBits);
  parallel_for(n_threads, runs.size(), [&](std::size_t r, int) {
    const auto& [group, slice] = runs[r];
    std::array<std::int64_t, kDigits> weights{};
    for (std::size_t i = slice.begin; i < slice.end; ++i) {
      const std::uint32_t key = key_of(all.values[i]);
      if (((key ^ searches[group].key) & known) == 0) weights[key >> shift & (kDigits - 1)] += all.weights[i];
    }
    for (std::size_t d = 0; d < kDigits; ++d) {
      if (weights[d] != 0) std::atomic_ref(digit_weights[group * kDigits + d]) += weights[d];
    }
  });
}

}  // namespace

std::vector<float> weighted_quantiles(const WeightedValues& all, std::span<const Slice> groups, double q,
                                      const comm::Communicator& comm, int n_threads) {
  std::vector<float> quantiles;
  for (std::size_t first = 0; first < groups.size(); first += kMaxGroups) {
    const auto some = groups.subspan(first, std::min(kMaxGroups, groups.size() - first));
    std::vector<Search> searches(some.size());
    for (int shift = 32 - kDigitBits; shift >= 0; shift -= kDigitBits) {
      std::vector<std::int64_t> digit_weights(some.size() * kDigits);
      add_digit_weights(all, some, searches, shift, n_threads, digit_weights);
      comm.all_reduce(std::span(digit_weights), comm::Reduction::kSum);
      for (std::size_t i = 0; i < some.size(); ++i) {
        descend(std::span<const std::int64_t>(digit_weights).subspan(i * kDigits, kDigits), q, shift, searches[i]);
      }
    }
    for (const Search& search : searches) quantiles.push_back(search.wanted > 0 ? value_of(search.key) : 0.0F);
  }
  return quantiles;
}

std::vector<std::int64_t> weights_in_units(const table::LabeledRows& rows, std::uint64_t n_global_rows) {
  const double scale = fixed_point_scale(rows.max_abs_weight, n_global_rows);
  std::vector<std::int64_t> units(rows.label.size());
  for (std::size_t i = 0; i < units.size(); ++i) units[i] = static_cast<std::int64_t>(rows.weight_of(i) * scale);
  return units;
}

}  // namespace podere::tree
