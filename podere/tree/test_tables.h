// Small tables for the tests of this room.
#pragma once

#include <fmt/core.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "podere/base/hash.h"
#include "podere/comm/communicator.h"
#include "podere/table/table.h"
#include "podere/tree/options.h"

namespace podere::tree {

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

inline table::Schema numbered_schema(std::size_t n_features, bool has_weight) {
  table::Schema schema;
  for (std::size_t j = 0; j < n_features; ++j) schema.features.push_back(fmt::format("x{}", j));
  schema.label = "y";
  if (has_weight) schema.weight = "w";
  return schema;
}

/// A table held by one process, column by column.
inline table::Table make_table(const std::vector<std::vector<float>>& features, const std::vector<float>& label,
                               const std::vector<float>& weight = {},
                               const std::map<std::size_t, table::Dictionary>& categories = {}) {
  table::Schema schema = numbered_schema(features.size(), !weight.empty());
  schema.categories = categories;
  table::Table table(schema, label.size(), {0, label.size()});
  for (std::size_t j = 0; j < features.size(); ++j)
    std::copy(features[j].begin(), features[j].end(), table.feature(j).begin());
  std::copy(label.begin(), label.end(), table.label().begin());
  std::copy(weight.begin(), weight.end(), table.weight().begin());
  return table;
}

struct RandomTable {
  std::size_t n_rows = 5000;
  std::size_t n_features = 7;
  Objective objective = Objective::kBinaryLogistic;
  bool has_infinities = false;
  bool has_missing = false;
  bool has_weight = false;  ///< one in ten is negative
  /// Of the last feature; 0: it is a number. Codes are skewed to the low ones, and what they say changes with each.
  std::size_t n_categories = 0;
  std::uint64_t seed = 1;
};

/// Rows of which each depends on its global number alone: this rank's part of the same table for any number of ranks.
inline table::Table random_table(const RandomTable& want, const comm::Communicator& comm) {
  table::Schema schema = numbered_schema(want.n_features, want.has_weight);
  if (want.n_categories > 0) schema.categories[want.n_features - 1] = std::nullopt;
  table::Table table(schema, want.n_rows, table::rows_of(want.n_rows, comm.rank(), comm.size()));
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    RandomSequence random(want.seed, 0, table.global({i}).value);
    double score = 0;
    for (std::size_t j = 0; j < want.n_features; ++j) {
      const double x = 2 * random.uniform() - 1;
      score += (j % 2 == 0 ? x : std::abs(x)) / static_cast<double>(j + 1);
      // The second feature has few distinct values.
      const double shown = j == 1 ? std::round(3 * x) : x;
      if (want.has_infinities && std::abs(x) > 0.85) {
        table.feature(j)[i] = static_cast<float>(std::copysign(std::numeric_limits<double>::infinity(), x));
        continue;
      }
      const bool is_missing = want.has_missing && random.uniform() < 0.1;
      table.feature(j)[i] = is_missing ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(shown);
    }
    if (want.n_categories > 0) {
      const double u = random.uniform();
      const auto code = static_cast<std::size_t>(u * u * static_cast<double>(want.n_categories));
      score += uniform01(hash64(5, 0, code)) - 0.5;
      float& shown = table.feature(want.n_features - 1)[i];
      if (shown == shown) shown = static_cast<float>(code);
    }
    score += random.uniform() - 0.5;
    const double label = want.objective == Objective::kBinaryLogistic ? (score > 0.3 ? 1 : 0)
                         : want.objective == Objective::kSoftmax
                             ? std::min(3.0, std::max(0.0, std::floor(2 * score + 1)))
                         : want.objective == Objective::kPoisson ? std::floor(std::exp(2 * score + random.uniform()))
                                                                 : score;
    table.label()[i] = static_cast<float>(label);
    if (want.has_weight) table.weight()[i] = static_cast<float>(random.uniform() < 0.1 ? -0.2 : 0.5 + random.uniform());
  }
  return table;
}

}  // namespace podere::tree
