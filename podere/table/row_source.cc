#include "podere/table/row_source.h"

#include <algorithm>
#include <utility>

namespace podere::table {
namespace {

Schema without_features(const Schema& schema) {
  return {.features = {}, .label = schema.label, .weight = schema.weight, .categories = {}, .classes = schema.classes};
}

/// Whole row blocks, at least one.
std::uint64_t rows_of_window(const Schema& schema, std::size_t window_bytes) {
  const std::size_t block_bytes = (schema.features.size() + 2) * sizeof(float) * kBlockRows;
  return std::max<std::uint64_t>(1, window_bytes / block_bytes) * kBlockRows;
}

}  // namespace

ReadRows::ReadRows(Schema schema, std::uint64_t n_global_rows, RowRange rows, Fill fill, std::size_t window_bytes)
    : schema_(std::move(schema)),
      labels_(without_features(schema_), n_global_rows, rows),
      fill_(std::move(fill)),
      window_rows_(rows_of_window(schema_, window_bytes)) {
  for_each_window([&](const Table& window) {
    const auto keep = [&](std::span<const float> values, std::span<float> all) {
      if (!values.empty()) std::ranges::copy(values, all.subspan(window.rows().begin - rows.begin).begin());
    };
    keep(window.label(), labels_.label());
    keep(window.weight(), labels_.weight());
  });
}

void ReadRows::for_each_window(const std::function<void(const Table&)>& take) const {
  const RowRange rows = labels_.rows();
  for (std::uint64_t begin = rows.begin; begin < rows.end; begin += window_rows_) {
    Table window(schema_, labels_.n_global_rows(), {begin, std::min(begin + window_rows_, rows.end)});
    fill_(window);
    take(window);
  }
}

}  // namespace podere::table
