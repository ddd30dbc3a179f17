// Whole numbers that float32 does not hold, so that different ones become equal.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/io/csv_layout.h"
#include "podere/io/read_facts.h"
#include "podere/table/strided.h"
#include "podere/table/table.h"

namespace podere::io {

inline constexpr float kFirstRounded = 16'777'216;  ///< 2^24: float32 holds all whole numbers up to it

/// Whether `text` is a whole number, with or without zeros behind a point.
bool is_whole_number(std::string_view text);
/// Whether it is, and is not `rounded`, its nearest float32.
bool is_rounded(std::string_view text, float rounded);

/// Finds such numbers while rows are read, for all threads of a rank.
class RoundedWholes {
 public:
  explicit RoundedWholes(const CsvLayout& layout);
  /// Of columns in which every number is looked at.
  explicit RoundedWholes(std::size_t n_columns);

  /// Whether `value` would be the largest of a column of the table, if its first fields are whole numbers.
  bool may_be(std::size_t column, float value) const {
    return columns_[column].is_wanted && std::abs(value) > columns_[column].largest.load(std::memory_order_relaxed);
  }
  /// Thread-safe.
  void note(std::size_t column, float rounded) {
    std::atomic<float>& largest = columns_[column].largest;
    float before = largest.load(std::memory_order_relaxed);
    while (before < std::abs(rounded) && !largest.compare_exchange_weak(before, std::abs(rounded))) {
    }
  }
  /// Over all ranks: how far float32 numbers lie apart at the largest that was rounded, by column; 0: none was.
  /// Collective.
  std::vector<float> join_steps(const comm::Communicator& comm) const;
  /// The same, of a format that has numbers alone. Collective.
  std::vector<Rounded> join(const std::vector<std::string>& names, const comm::Communicator& comm) const;

 private:
  struct Column {
    bool is_wanted = false;
    std::atomic<float> largest = kFirstRounded - 1;  // that was rounded
  };
  std::vector<Column> columns_;
};

/// Notes what fill_features rounded where it copied `from` to the columns from `first_column` on of rows from
/// `first_row` on of `to`. Thread-safe.
void note_rounded(const table::StridedMatrix& from, const table::Table& to, table::LocalRow first_row,
                  std::size_t first_column, RoundedWholes& rounded);

}  // namespace podere::io
