// Random permutations of rows that no executor holds as a whole.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/table/table.h"

namespace podere::table {

/// A random permutation of 0, ..., n - 1, of which any image can be asked for: it depends on `n` and `key` alone.
/// A Feistel network over as many bits as n - 1 has (at least 8); what falls outside goes through again until it is
/// inside (at most twice on average). Source: Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002.
class Permutation {
 public:
  /// Throws InputError unless 1 <= n <= 2^62.
  Permutation(std::uint64_t n, std::uint64_t key);

  /// Precondition: i < n.
  std::uint64_t operator()(std::uint64_t i) const;

 private:
  std::uint64_t encipher(std::uint64_t i) const;

  std::uint64_t n_;
  std::uint64_t key_;
  int low_bits_;  // as many as high_bits_, or one less
  int high_bits_;
};

/// A column of `table` [n_rows] after its values changed rows: that of global row i went to permutation(i), wherever it
/// is held. Collective: one all_to_all of 8 bytes per row. The table must have all its rows, in rank order; throws
/// InputError on all ranks if one of them holds more than 2^32.
std::vector<float> permute(std::span<const float> column, const Table& table, const Permutation& permutation,
                           const comm::Communicator& comm, int n_threads);

}  // namespace podere::table
