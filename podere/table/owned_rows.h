// A table in memory as a source of rows that owns it.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include "podere/table/row_source.h"

namespace podere::table {

/// One window. Unlike HeldRows, which borrows a table, it may outlive whatever made the table.
class OwnedRows final : public RowSource {
 public:
  explicit OwnedRows(Table table) : table_(std::move(table)) {}

  const Schema& schema() const override { return table_.schema(); }
  const Table& labels() const override { return table_; }
  void for_each_window(const std::function<void(const Table&)>& take) const override { take(table_); }
  void release_features(std::size_t n) const override { table_.release_features(n); }

 private:
  mutable Table table_;  // releasing features changes no row that is still to be read
};

}  // namespace podere::table
