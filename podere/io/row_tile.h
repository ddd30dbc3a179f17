// Rows on their way into the columns of a table.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "podere/io/load_lines.h"
#include "podere/table/table.h"

namespace podere::io {

/// A few rows, which go to the table together, a cache line of each column at a time: written row by row, columns that
/// lie a power of two apart would drive each other out of the cache. Borrows the table. For one thread.
class RowTile {
 public:
  explicit RowTile(table::Table& table) {
    for (std::size_t j = 0; j < table.n_columns(); ++j) columns_.push_back(table.column(j).data());
    values_.resize(kRows * columns_.size());
  }

  /// The next row is local row `row`.
  void start_at(std::size_t row) {
    first_row_ = row;
    n_rows_ = 0;
  }

  /// Where the values [columns of the table] of the next row belong.
  float* next_row() { return values_.data() + n_rows_ * columns_.size(); }

  void keep_row() {
    if (++n_rows_ == kRows) flush();
  }

  void flush() {
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      for (std::size_t i = 0; i < n_rows_; ++i) columns_[j][first_row_ + i] = values_[i * columns_.size() + j];
    }
    start_at(first_row_ + n_rows_);
  }

 private:
  static constexpr std::size_t kRows = 16;
  std::vector<float*> columns_;
  std::vector<float> values_;  // row by row
  std::size_t first_row_ = 0;
  std::size_t n_rows_ = 0;
};

/// Lines to rows by a parser: `parse(begin, end, row)` sets the values [columns of the table] of a row from the line at
/// `begin`, and returns where the next one begins.
template <typename Parser>
class RowReader final : public LineReader {
 public:
  /// `first_row`: of the table, that is the first of those that are read.
  RowReader(Parser parser, table::Table& table, std::size_t first_row = 0)
      : parser_(std::move(parser)), tile_(table), first_row_(first_row) {}

  void start_at(std::size_t first) override { tile_.start_at(first_row_ + first); }
  const char* read(const char* p, const char* end) override {
    p = parser_.parse(p, end, tile_.next_row());
    tile_.keep_row();
    return p;
  }
  void finish() override { tile_.flush(); }

 private:
  Parser parser_;
  RowTile tile_;
  std::size_t first_row_;
};

}  // namespace podere::io
