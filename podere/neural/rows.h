// Rows as networks take them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "podere/base/huge_array.h"
#include "podere/neural/inputs.h"
#include "podere/neural/network.h"
#include "podere/neural/options.h"
#include "podere/table/row.h"
#include "podere/table/standardize.h"

namespace podere::neural {

/// Features row by row, numbers on a common scale: [n_rows x width]. Row i is global row `range.begin + i`.
struct FeatureRows {
  table::RowRange range;
  std::size_t stride = 0;  ///< of the first layer's inputs, see Layer
  std::size_t width = 0;   ///< `stride`, unless there are categories: a row then holds their codes
  HugeArray<float> values;
  std::optional<Inputs> inputs;  ///< where there are categories

  std::size_t n_rows() const { return static_cast<std::size_t>(range.size()); }
  const float* row(std::size_t i) const { return values.data() + i * width; }
  bool holds_inputs() const { return !inputs; }
  /// Sets `to` [stride]: the inputs, the 1 of the bias, and zeros.
  void copy_inputs(std::size_t i, float* to) const;
};

/// Takes columns [n_features], as `schema` has them, over `rows` over into rows, each number x as (x - mean) / scale.
/// Missing numbers become their feature's mean if the options say so; otherwise, and for infinite ones, throws
/// InputError with the row and the name (`what` is the table's). Local.
FeatureRows to_feature_rows(std::span<const std::span<const float>> columns, table::RowRange rows,
                            const table::Schema& schema, const Options& options, const table::Scaling& scaling,
                            const char* what, int n_threads);

}  // namespace podere::neural
