// What distributed tests of readers stand on: files that all ranks see, tables that lie on all of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/io/csv_reference.h"
#include "podere/table/row_source.h"
#include "podere/table/table.h"

namespace podere::io {

inline const comm::Communicator& world() {
  static const auto group = comm::Communicator::world();
  return group;
}

/// A file that rank 0 writes and all ranks read.
class SharedFile {
 public:
  explicit SharedFile(std::string_view text) {
    if (world().is_root()) file_.emplace(text);
    path_ = world().broadcast_text(file_ ? file_->path().string() : "");
  }
  ~SharedFile() { world().barrier(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::optional<TemporaryFile> file_;
  std::filesystem::path path_;
};

/// All rows of the table, column by column, whichever rank holds them.
inline std::vector<std::uint32_t> gathered_bits(const table::Table& table) {
  const std::vector<std::uint32_t> bits = table_bits(table);
  const std::size_t n_columns = table.n_columns();
  std::vector<std::uint32_t> all;
  for (std::size_t j = 0; j < n_columns; ++j) {
    const auto column = std::span<const std::uint32_t>(bits).subspan(j * table.n_rows(), table.n_rows());
    const auto whole = world().all_gather_v<std::uint32_t>(column);
    all.insert(all.end(), whole.begin(), whole.end());
  }
  return all;
}

/// All windows in one table.
inline table::Table joined(const table::RowSource& rows) {
  table::Table table(rows.schema(), rows.labels().n_global_rows(), rows.labels().rows());
  const auto copy = [&](std::span<const float> from, std::span<float> to, const table::Table& window) {
    std::ranges::copy(from, to.subspan(window.rows().begin - table.rows().begin, from.size()).begin());
  };
  rows.for_each_window([&](const table::Table& window) {
    for (std::size_t j = 0; j < table.n_features(); ++j) copy(window.feature(j), table.feature(j), window);
  });
  copy(rows.labels().label(), table.label(), table);
  copy(rows.labels().weight(), table.weight(), table);
  return table;
}

}  // namespace podere::io
