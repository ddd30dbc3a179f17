#include "podere/table/table.h"

#include <utility>

#include "podere/base/error.h"

namespace podere::table {

Table::Table(Schema schema, std::uint64_t n_global_rows, RowRange rows)
    : schema_(std::move(schema)), n_global_rows_(n_global_rows), rows_(rows) {
  constexpr std::uint64_t kMaxRows = std::uint64_t{1} << 48;
  if (n_global_rows > kMaxRows)
    throw_input_error("a table of {} rows, allowed are at most {}", n_global_rows, kMaxRows);
  if (rows.begin > rows.end || rows.end > n_global_rows) {
    throw_input_error("rows {} to {} do not lie in a table of {} rows", rows.begin, rows.end, n_global_rows);
  }
  // Not zeroed: pages are first touched by the threads that fill them.
  values_ = HugeArray<float>(n_columns() * n_rows());
}

}  // namespace podere::table
