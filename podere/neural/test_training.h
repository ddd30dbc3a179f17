// Tables and training for the tests of this room.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "podere/base/hash.h"
#include "podere/comm/communicator.h"
#include "podere/neural/train.h"
#include "podere/table/row_source.h"

namespace podere::neural {

/// All ranks that the test was started on.
inline const comm::Communicator& world() {
  static const comm::Communicator group = comm::Communicator::world();
  return group;
}

/// This process by itself.
inline const comm::Communicator& alone() {
  static const comm::Communicator self = comm::Communicator::self();
  return self;
}

struct RandomTable {
  std::size_t n_rows = 3000;
  std::size_t n_features = 6;
  Loss loss = Loss::kBinaryCrossEntropy;
  bool has_missing = false;
  bool has_weight = false;
  std::uint64_t seed = 1;
};

/// Rows of which each depends on its global number alone: this rank's part of the same table for any number of ranks.
/// The label hangs on a product of features, which no linear model finds.
inline table::Table random_table(const RandomTable& want, const comm::Communicator& comm) {
  table::Schema schema{.features = {}, .label = "y"};
  for (std::size_t j = 0; j < want.n_features; ++j) schema.features.push_back("x" + std::to_string(j));
  if (want.has_weight) schema.weight = "w";
  table::Table table(schema, want.n_rows, table::rows_of(want.n_rows, comm.rank(), comm.size()));
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    RandomSequence random(want.seed, 0, table.global({i}).value);
    double score = 0;
    for (std::size_t j = 0; j < want.n_features; ++j) {
      const double x = 2 * random.uniform() - 1;
      score += j < 2 ? 0 : x / static_cast<double>(j + 1);
      const bool is_missing = want.has_missing && random.uniform() < 0.1;
      table.feature(j)[i] = is_missing ? std::numeric_limits<float>::quiet_NaN()
                                       : static_cast<float>(100 * x + 1000 * static_cast<double>(j));
    }
    score += 6e-4 * (table.feature(0)[i] - 0) * (table.feature(1)[i] - 1000) / 2;
    if (score != score) score = 0;
    table.label()[i] = want.loss == Loss::kBinaryCrossEntropy ? (score > 0 ? 1.0F : 0.0F)
                       : want.loss == Loss::kCrossEntropy
                           ? static_cast<float>(std::min(2.0, std::max(0.0, std::floor(score + 1.5))))
                           : static_cast<float>(score);
    if (want.has_weight) table.weight()[i] = static_cast<float>(0.5 + random.uniform());
  }
  return table;
}

/// The model of a table that this process holds by itself.
inline Model train_alone(const table::Table& table, const Options& options, const table::Table* validation = nullptr,
                         const RunControl& control = {}) {
  Progress progress;
  return train(table::HeldRows(table), validation, options, alone(), 2, progress, nullptr, control);
}

}  // namespace podere::neural
