#include "podere/table/permute.h"

#include <algorithm>
#include <bit>

#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/base/parallel.h"

namespace podere::table {
namespace {

constexpr std::uint64_t kRounds = 8;  // even: halves of unlike width end where they began
constexpr int kLeastBits = 8;         // a network on fewer is far from random: it makes even permutations only
constexpr std::size_t kPermutationGrainRows = 1 << 14;

std::uint64_t low_bits_of(std::uint64_t x, int n_bits) { return x & ((std::uint64_t{1} << n_bits) - 1); }

}  // namespace

Permutation::Permutation(std::uint64_t n, std::uint64_t key) : n_(n), key_(key) {
  if (n < 1 || n > std::uint64_t{1} << 62) throw_input_error("a permutation of {} rows, allowed is 1 to 2^62", n);
  const int n_bits = std::max(kLeastBits, static_cast<int>(std::bit_width(n - 1)));
  low_bits_ = n_bits / 2;
  high_bits_ = n_bits - low_bits_;
}

std::uint64_t Permutation::encipher(std::uint64_t i) const {
  std::uint64_t high = i >> low_bits_;
  std::uint64_t low = low_bits_of(i, low_bits_);
  for (std::uint64_t round = 0; round < kRounds; round += 2) {
    high ^= low_bits_of(mix64((key_ + round * kGoldenGamma) ^ low), high_bits_);
    low ^= low_bits_of(mix64((key_ + (round + 1) * kGoldenGamma) ^ high), low_bits_);
  }
  return high << low_bits_ | low;
}

std::uint64_t Permutation::operator()(std::uint64_t i) const {
  do i = encipher(i);
  while (i >= n_);
  return i;
}

std::vector<float> permute(std::span<const float> column, const Table& table, const Permutation& permutation,
                           const comm::Communicator& comm, int n_threads) {
  const std::size_t n_rows = table.n_rows();
  comm.agree([&] {
    if (n_rows > std::uint64_t{1} << 32)
      throw_input_error("{} rows on one executor, at most 2^32 can be permuted", n_rows);
  });
  const std::vector<std::uint64_t> begins = comm.all_gather(table.rows().begin);
  const std::vector<std::uint64_t> ends = comm.all_gather(table.rows().end);
  const auto holder_of = [&](std::uint64_t row) {  // the first rank whose rows end above
    return static_cast<std::size_t>(std::ranges::upper_bound(ends, row) - ends.begin());
  };

  std::vector<std::uint64_t> goes_to(n_rows);
  parallel_for_slices(n_threads, n_rows, kPermutationGrainRows, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t i = begin; i < end; ++i) goes_to[i] = permutation(table.global({i}).value);
  });
  std::vector<std::size_t> counts(ends.size());
  for (const std::uint64_t row : goes_to) ++counts[holder_of(row)];
  std::vector<std::size_t> places(counts.size());
  for (std::size_t rank = 1; rank < counts.size(); ++rank) places[rank] = places[rank - 1] + counts[rank - 1];

  // The local row where it goes in the upper half, the value's bits in the lower.
  std::vector<std::uint64_t> sent(n_rows);
  for (std::size_t i = 0; i < n_rows; ++i) {
    const std::size_t rank = holder_of(goes_to[i]);
    sent[places[rank]++] = (goes_to[i] - begins[rank]) << 32 | std::bit_cast<std::uint32_t>(column[i]);
  }
  std::vector<float> permuted(n_rows);
  for (const std::uint64_t value : comm.all_to_all_v<std::uint64_t>(sent, counts))
    permuted[value >> 32] = std::bit_cast<float>(static_cast<std::uint32_t>(value));
  return permuted;
}

}  // namespace podere::table
