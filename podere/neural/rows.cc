#include "podere/neural/rows.h"

#include <algorithm>
#include <cmath>

#include "podere/base/error.h"
#include "podere/base/parallel.h"
#include "podere/base/printable.h"

namespace podere::neural {

void FeatureRows::copy_inputs(std::size_t i, float* to) const {
  if (!inputs) {
    std::copy_n(row(i), stride, to);
    return;
  }
  inputs->expand(row(i), to);
  to[inputs->n_inputs()] = 1;
  std::fill(to + inputs->n_inputs() + 1, to + stride, 0.0F);
}

FeatureRows to_feature_rows(std::span<const std::span<const float>> columns, table::RowRange rows,
                            const table::Schema& schema, const Options& options, const table::Scaling& scaling,
                            const char* what, int n_threads) {
  constexpr std::size_t kGrain = 256;  // rows: their part of a column and of the rows stay in the cache
  const std::size_t n_features = columns.size();
  FeatureRows to{rows, 0, round_up(n_features + 1, kLanes), {}, Inputs(schema, options.one_hot)};
  to.stride = round_up(to.inputs->n_inputs() + 1, kLanes);
  if (!to.inputs->has_categories()) to.inputs.reset();
  to.values = HugeArray<float>(to.n_rows() * to.width);
  parallel_for_slices(n_threads, to.n_rows(), kGrain, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t j = 0; j < n_features; ++j) {
      const bool is_category = to.inputs && to.inputs->is_category(j);
      const double mean = scaling.mean[j];
      const double scale = scaling.scale[j];
      for (std::size_t i = begin; i < end; ++i) {
        const float x = columns[j][i];
        auto value = static_cast<float>((x - mean) / scale);
        if (!std::isfinite(value) && !is_category) {
          if (!std::isnan(x) || !options.impute) {
            throw_input_error("{} data: feature {} of row {} is {}, allowed are finite numbers{}", what,
                              printable(schema.features[j]), rows.begin + i,
                              std::isnan(x) ? "missing (NaN)" : fmt::format("{}", x),
                              std::isnan(x) ? "; networks trained with impute take the mean for it" : " of float32");
          }
          value = 0;
        }
        to.values[i * to.width + j] = is_category ? x : value;
      }
    }
    for (std::size_t i = begin; i < end; ++i) {
      float* const row = to.values.data() + i * to.width;
      row[n_features] = 1;
      for (std::size_t j = n_features + 1; j < to.width; ++j) row[j] = 0;
    }
  });
  return to;
}

}  // namespace podere::neural
