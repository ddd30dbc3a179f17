#include "podere/evaluate/sample_sort.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace podere::evaluate {
namespace {

constexpr std::uint64_t kSamplesPerRank = 64;

/// The p - 1 keys which part the records of all lists and ranks into p even runs; none if there are no records.
/// Every `stride`-th record of each sorted list is looked at, with one stride for all ranks.
std::vector<std::uint32_t> splitters(const comm::Communicator& comm, std::span<const std::vector<Record>> lists) {
  const auto n_ranks = static_cast<std::uint64_t>(comm.size());
  std::uint64_t n_records = 0;
  for (const auto& list : lists) n_records += list.size();
  n_records = comm.all_reduce(n_records, comm::Reduction::kSum);
  const std::uint64_t stride = n_records / (n_ranks * kSamplesPerRank) + 1;
  std::vector<std::uint32_t> samples;
  for (const auto& list : lists) {
    for (std::size_t i = 0; i < list.size(); i += stride) samples.push_back(key_of(list[i]));
  }
  samples = comm.all_gather_v(std::span<const std::uint32_t>(samples));
  std::sort(samples.begin(), samples.end());
  std::vector<std::uint32_t> keys;
  for (std::size_t r = 1; r < n_ranks && !samples.empty(); ++r) keys.push_back(samples[r * samples.size() / n_ranks]);
  return keys;
}

}  // namespace

void radix_sort(std::vector<Record>& records) {
  constexpr int kDigitBits = 11;
  constexpr std::size_t kDigits = 3;
  constexpr std::size_t kValues = 1 << kDigitBits;
  const auto digit = [](Record record, std::size_t d) {
    return record >> (32 + kDigitBits * d) & (kValues - 1);  // the last digit has 10 bits
  };
  std::array<std::array<std::size_t, kValues>, kDigits> places{};
  for (const Record record : records) {
    for (std::size_t d = 0; d < kDigits; ++d) ++places[d][digit(record, d)];
  }
  std::vector<Record> sorted(records.size());
  for (std::size_t d = 0; d < kDigits; ++d) {
    std::size_t place = 0;
    for (std::size_t& count : places[d]) place += std::exchange(count, place);
    for (const Record record : records) sorted[places[d][digit(record, d)]++] = record;
    records.swap(sorted);
  }
}

void sample_sort(const comm::Communicator& comm, std::span<std::vector<Record>> lists) {
  for (auto& list : lists) radix_sort(list);
  if (comm.size() == 1) return;
  const std::vector<std::uint32_t> keys = splitters(comm, lists);
  for (auto& list : lists) {
    // Rank r receives the keys above splitter r - 1, up to and with splitter r.
    std::vector<std::size_t> counts(static_cast<std::size_t>(comm.size()), 0);
    auto begin = list.begin();
    for (std::size_t r = 0; r < keys.size(); ++r) {
      const auto end = std::upper_bound(begin, list.end(), keys[r],
                                        [](std::uint32_t key, Record record) { return key < key_of(record); });
      counts[r] = static_cast<std::size_t>(end - begin);
      begin = end;
    }
    counts.back() = static_cast<std::size_t>(list.end() - begin);
    list = comm.all_to_all_v(std::span<const Record>(list), counts);
    radix_sort(list);
  }
}

}  // namespace podere::evaluate
