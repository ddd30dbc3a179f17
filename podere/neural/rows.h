// Rows as networks take them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "podere/base/huge_array.h"
#include "podere/neural/network.h"
#include "podere/table/row.h"
#include "podere/table/standardize.h"

namespace podere::neural {

/// Features row by row, on a common scale: [n_rows x stride] as Layer has inputs. Row i is global row
/// `range.begin + i`.
struct FeatureRows {
  table::RowRange range;
  std::size_t stride = 0;
  HugeArray<float> values;

  std::size_t n_rows() const { return static_cast<std::size_t>(range.size()); }
  const float* row(std::size_t i) const { return values.data() + i * stride; }
};

/// Takes columns [n_features] over `rows` over into rows, each value x as (x - mean) / scale. Missing values become
/// their feature's mean if `imputes`; otherwise, and for infinite ones, throws InputError with the row and the name
/// (`names` [n_features], `what` is the table's). Local.
FeatureRows to_feature_rows(std::span<const std::span<const float>> columns, table::RowRange rows,
                            const std::vector<std::string>& names, const table::Scaling& scaling, bool imputes,
                            const char* what, int n_threads);

}  // namespace podere::neural
