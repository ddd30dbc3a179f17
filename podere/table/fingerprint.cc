#include "podere/table/fingerprint.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <span>
#include <vector>

#include "podere/base/hash.h"
#include "podere/base/parallel.h"

namespace podere::table {
namespace {

constexpr std::uint64_t kFingerprintStream = 0x66696e676572;  // keeps these hashes apart from others
constexpr std::size_t kGrainBlocks = 64;

/// A number for each row of a block: odd, and of 32 bits, so that no change of one value is lost in a sum modulo 2^64.
using Weights = std::array<std::uint32_t, kBlockRows>;

Weights make_weights() {
  Weights weights;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = static_cast<std::uint32_t>(hash64(0, kFingerprintStream, i)) | 1U;
  }
  return weights;
}

/// sum over i of bits(values[i]) * weights[i] modulo 2^64.
std::uint64_t weighted_sum(std::span<const float> values, const Weights& weights) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += std::uint64_t{std::bit_cast<std::uint32_t>(values[i])} * weights[i];
  }
  return sum;
}

}  // namespace

std::uint64_t fingerprint(const Table& table, const comm::Communicator& comm, int n_threads) {
  const Weights weights = make_weights();
  const std::size_t n_blocks = (table.n_rows() + kBlockRows - 1) / kBlockRows;
  const std::size_t n_grains = (n_blocks + kGrainBlocks - 1) / kGrainBlocks;
  std::vector<std::uint64_t> sums(table.n_columns() * n_grains);
  parallel_for(n_threads, sums.size(), [&](std::size_t task, int) {
    const std::size_t column = task / n_grains;
    const std::size_t first_block = task % n_grains * kGrainBlocks;
    const std::span<const float> values = table.column(column);
    std::uint64_t sum = 0;
    for (std::size_t block = first_block; block < std::min(first_block + kGrainBlocks, n_blocks); ++block) {
      const std::size_t row = block * kBlockRows;
      const std::uint64_t of_block =
          weighted_sum(values.subspan(row, std::min(kBlockRows, values.size() - row)), weights);
      // Mixed with its place before it is added: the order of additions does not count, that of blocks does.
      sum += mix64(of_block ^ hash64(column, kFingerprintStream, table.rows().begin + row));
    }
    sums[task] = sum;
  });
  std::uint64_t sum = 0;
  for (const std::uint64_t part : sums) sum += part;
  return comm.all_reduce(sum, comm::Reduction::kSum);
}

}  // namespace podere::table
