// Rows in groups, for tests: every value follows from its global row.
#pragma once

#include <cstdint>

#include "podere/algorithm/algorithm.h"
#include "podere/base/hash.h"
#include "podere/comm/communicator.h"
#include "podere/table/table.h"

namespace podere::cluster {

inline constexpr std::size_t kTestFeatures = 3;

/// Rows around `n_groups` points, `width` apart in each direction. The point of a row is that of its number modulo
/// `n_groups`; the weights are 1 to 4.
inline table::Table rows_in_groups(std::uint64_t n_rows, std::uint64_t n_groups, const comm::Communicator& comm,
                                   bool has_weights = true, double width = 1) {
  table::Schema schema{.features = {"a", "b", "c"}};
  if (has_weights) schema.weight = "w";
  table::Table table(schema, n_rows, table::rows_of(n_rows, comm.rank(), comm.size()));
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    const std::uint64_t row = table.global({i}).value;
    if (has_weights) table.weight()[i] = static_cast<float>(1 + hash64(7, 0, row) % 4);
    for (std::size_t j = 0; j < kTestFeatures; ++j) {
      const double center = 10 * uniform01(hash64(8, j, row % n_groups));
      const double noise = uniform01(hash64(9, j, row)) + uniform01(hash64(10, j, row)) - 1;
      table.feature(j)[i] = static_cast<float>(center + width * noise);
    }
  }
  return table;
}

inline algorithm::Trained train(const algorithm::Algorithm& algorithm, const table::Table& table,
                                const comm::Communicator& comm, int n_threads, const Json& options) {
  Progress progress;
  algorithm::Summaries summaries;
  return algorithm.trainer(options)->train(
      table::HeldRows(table), nullptr,
      {.comm = comm, .n_threads = n_threads, .progress = progress, .summaries = summaries});
}

}  // namespace podere::cluster
