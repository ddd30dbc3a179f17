#include "podere/table/split.h"

#include <cstddef>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/base/parallel.h"
#include "podere/table/keep_rows.h"

namespace podere::table {
namespace {

constexpr std::uint64_t kSplitStream = 0x73706c6974;  // keeps this use of a seed apart from others'

}  // namespace

std::pair<Table, Table> split(const Table& table, double fraction, std::uint64_t seed, const comm::Communicator& comm,
                              int n_threads) {
  if (!(fraction > 0 && fraction < 1)) {
    throw_input_error("a split into shares of {} and the rest; allowed is more than 0 and less than 1", fraction);
  }
  std::vector<std::uint8_t> is_first(table.n_rows());
  parallel_for_slices(n_threads, table.n_rows(), kGrainRows, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t i = begin; i < end; ++i) {
      is_first[i] = uniform01(hash64(seed, kSplitStream, table.global({i}).value)) < fraction ? 1 : 0;
    }
  });
  Table first = keep_rows(table, is_first, comm, n_threads);
  for (std::uint8_t& mark : is_first) mark ^= 1;
  return {std::move(first), keep_rows(table, is_first, comm, n_threads)};
}

}  // namespace podere::table
