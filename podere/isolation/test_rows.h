// Rows with anomalies, for tests: every value follows from its global row.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "podere/algorithm/algorithm.h"
#include "podere/base/hash.h"
#include "podere/comm/communicator.h"
#include "podere/isolation/isolation_forest.h"
#include "podere/table/table.h"

namespace podere::isolation {

inline constexpr std::uint64_t kOrdinary = 50;  ///< of so many rows the first is an anomaly, whose label is 1

/// Numbers "a", "b" and "c", of which "b" is missing in each tenth row or so, and categories "kind".
inline void fill_rows(table::Table& table) {
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    const std::uint64_t row = table.global({i}).value;
    const bool is_anomaly = row % kOrdinary == 0;
    for (std::size_t j = 0; j < 3; ++j) {
      double value = 0;
      for (std::uint64_t k = 0; k < 4; ++k) value += uniform01(hash64(1 + k, j, row)) - 0.5;
      table.feature(j)[i] = static_cast<float>(is_anomaly ? 3 + 4 * value : value);
    }
    if (hash64(5, 0, row) % 10 == 0) table.feature(1)[i] = std::numeric_limits<float>::quiet_NaN();
    table.feature(3)[i] = static_cast<float>(hash64(6, 0, row) % 5);
    table.label()[i] = is_anomaly ? 1 : 0;
  }
}

inline table::Schema schema_of_rows() {
  table::Schema schema{.features = {"a", "b", "c", "kind"}, .label = "y"};
  schema.categories[3] = table::CategoryTexts({"p", "q", "r", "s", "t"});
  return schema;
}

inline table::Table rows_with_anomalies(std::uint64_t n_rows, const comm::Communicator& comm) {
  table::Table table(schema_of_rows(), n_rows, table::rows_of(n_rows, comm.rank(), comm.size()));
  fill_rows(table);
  return table;
}

/// Of so many features that not all trees are grown at once.
inline table::Table wide_rows(std::uint64_t n_rows, const comm::Communicator& comm) {
  table::Schema schema;
  for (std::size_t j = 0; j < 500; ++j) schema.features.push_back("f" + std::to_string(j));
  table::Table table(schema, n_rows, table::rows_of(n_rows, comm.rank(), comm.size()));
  for (std::size_t j = 0; j < table.n_features(); ++j) {
    for (std::size_t i = 0; i < table.n_rows(); ++i) {
      table.feature(j)[i] = static_cast<float>(uniform01(hash64(7, j, table.global({i}).value)));
    }
  }
  return table;
}

inline algorithm::Trained train(const table::RowSource& rows, const comm::Communicator& comm, int n_threads,
                                const Json& options, Progress&& progress = {}) {
  algorithm::Summaries summaries;
  return isolation_forest().trainer(options)->train(
      rows, nullptr, {.comm = comm, .n_threads = n_threads, .progress = progress, .summaries = summaries});
}

}  // namespace podere::isolation
