#include "podere/table/row_source.h"

#include <algorithm>
#include <utility>

#include "podere/table/labels.h"

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

/// Of a table with such a schema, perhaps without features.
Table copy_columns(const Table& table, Schema schema) {
  Table copy(std::move(schema), table.n_global_rows(), table.rows());
  for (std::size_t j = 0; j < copy.n_features(); ++j) std::ranges::copy(table.feature(j), copy.feature(j).begin());
  std::ranges::copy(table.label(), copy.label().begin());
  std::ranges::copy(table.weight(), copy.weight().begin());
  return copy;
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

NumberedRows::NumberedRows(std::unique_ptr<RowSource> rows, const std::vector<float>& classes, int n_threads)
    : rows_(std::move(rows)),
      schema_(rows_->schema()),
      labels_(copy_columns(rows_->labels(), without_features(schema_))) {
  number_labels(labels_, classes, n_threads);
  schema_.classes = labels_.schema().classes;
}

void NumberedRows::for_each_window(const std::function<void(const Table&)>& take) const {
  const std::uint64_t first_row = labels_.rows().begin;
  rows_->for_each_window([&](const Table& window) {
    Table numbered = copy_columns(window, schema_);
    const std::size_t begin = window.rows().begin - first_row;
    std::ranges::copy(labels_.label().subspan(begin, window.n_rows()), numbered.label().begin());
    take(numbered);
  });
}

}  // namespace podere::table
