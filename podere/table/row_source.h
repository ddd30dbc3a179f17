// Rows to go through, more than once, whether all of them are held in memory or not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "podere/table/table.h"

namespace podere::table {

/// The rows of a table that belong to this executor. Their labels and weights are held, their features perhaps not.
class RowSource {
 public:
  virtual ~RowSource() = default;

  virtual const Schema& schema() const = 0;
  /// All rows here, with label and weight; with the features of the schema, or without any.
  virtual const Table& labels() const = 0;
  bool holds_features() const { return labels().n_features() == schema().features.size(); }

  /// Calls `take` with tables of consecutive rows that are all rows here, in their order. Throws InputError if they
  /// cannot be read. Local.
  virtual void for_each_window(const std::function<void(const Table&)>& take) const = 0;
  /// Releases the memory of the first `n` features, which are not read again.
  virtual void release_features([[maybe_unused]] std::size_t n) const {}
};

/// A table in memory: one window. It may be borrowed, or handed over, and then releases the memory of features.
class HeldRows final : public RowSource {
 public:
  HeldRows(const Table& borrowed) : table_(borrowed) {}
  HeldRows(Table&& handed_over) : table_(handed_over), handed_over_(&handed_over) {}

  const Schema& schema() const override { return table_.schema(); }
  const Table& labels() const override { return table_; }
  void for_each_window(const std::function<void(const Table&)>& take) const override { take(table_); }
  void release_features(std::size_t n) const override {
    if (handed_over_ != nullptr) handed_over_->release_features(n);
  }

 private:
  const Table& table_;
  Table* handed_over_ = nullptr;
};

/// Memory of one window of ReadRows, in bytes.
inline constexpr std::size_t kWindowBytes = std::size_t{1} << 24;

/// Rows that are read or generated again each time they are needed.
class ReadRows final : public RowSource {
 public:
  /// Sets all values of a table: those of its rows(). Throws InputError if they cannot be read.
  using Fill = std::function<void(Table& window)>;

  /// Goes through `rows` once, for labels and weights. Throws as `fill`.
  ReadRows(Schema schema, std::uint64_t n_global_rows, RowRange rows, Fill fill,
           std::size_t window_bytes = kWindowBytes);

  const Schema& schema() const override { return schema_; }
  const Table& labels() const override { return labels_; }
  void for_each_window(const std::function<void(const Table&)>& take) const override;

 private:
  Schema schema_;
  Table labels_;
  Fill fill_;
  std::uint64_t window_rows_;
};

/// Rows of another source, whose labels become places among classes, as of number_labels. Windows are copied.
class NumberedRows final : public RowSource {
 public:
  /// Throws as number_labels.
  NumberedRows(std::unique_ptr<RowSource> rows, const std::vector<float>& classes, int n_threads);

  const Schema& schema() const override { return schema_; }
  const Table& labels() const override { return labels_; }
  void for_each_window(const std::function<void(const Table&)>& take) const override;
  void release_features(std::size_t n) const override { rows_->release_features(n); }

 private:
  std::unique_ptr<RowSource> rows_;
  Schema schema_;
  Table labels_;
};

}  // namespace podere::table
