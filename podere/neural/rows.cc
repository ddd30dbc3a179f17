#include "podere/neural/rows.h"

#include <cmath>

#include "podere/base/error.h"
#include "podere/base/parallel.h"
#include "podere/base/printable.h"

namespace podere::neural {

FeatureRows to_feature_rows(std::span<const std::span<const float>> columns, table::RowRange rows,
                            const std::vector<std::string>& names, const table::Scaling& scaling, bool imputes,
                            const char* what, int n_threads) {
  constexpr std::size_t kGrain = 256;  // rows: their part of a column and of the rows stay in the cache
  const std::size_t n_features = columns.size();
  FeatureRows to{rows, round_up(n_features + 1, kLanes), {}};
  to.values = HugeArray<float>(to.n_rows() * to.stride);
  parallel_for_slices(n_threads, to.n_rows(), kGrain, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t j = 0; j < n_features; ++j) {
      const double mean = scaling.mean[j];
      const double scale = scaling.scale[j];
      for (std::size_t i = begin; i < end; ++i) {
        const float x = columns[j][i];
        auto value = static_cast<float>((x - mean) / scale);
        if (!std::isfinite(value)) {
          if (!std::isnan(x) || !imputes) {
            throw_input_error("{} data: feature {} of row {} is {}, allowed are finite numbers{}", what,
                              printable(names[j]), rows.begin + i,
                              std::isnan(x) ? "missing (NaN)" : fmt::format("{}", x),
                              std::isnan(x) ? "; networks trained with impute take the mean for it" : " of float32");
          }
          value = 0;
        }
        to.values[i * to.stride + j] = value;
      }
    }
    for (std::size_t i = begin; i < end; ++i) {
      float* const row = to.values.data() + i * to.stride;
      row[n_features] = 1;
      for (std::size_t j = n_features + 1; j < to.stride; ++j) row[j] = 0;
    }
  });
  return to;
}

}  // namespace podere::neural
