// What the columns of a tall matrix are like.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "podere/base/error.h"
#include "podere/comm/communicator.h"
#include "podere/linalg/tall_matrix.h"

namespace podere::linalg {

/// A value that is NaN or infinite, by global row and column, from 0.
class NotFinite : public InputError {
 public:
  NotFinite(std::uint64_t row, std::size_t column, const std::string& name);
  std::uint64_t row() const { return row_; }
  std::size_t column() const { return column_; }

 private:
  std::uint64_t row_;
  std::size_t column_;
};

/// The least and the largest value of each column; both 0 if there are no rows.
struct ColumnRanges {
  std::vector<double> least;
  std::vector<double> largest;

  double magnitude(std::size_t j) const { return std::max(-least[j], largest[j]); }
  bool operator==(const ColumnRanges&) const = default;
};
/// Throws NotFinite, the same on all ranks, for the first row with such a value; `names` of columns may be empty.
/// Collective: two all_reduce, of 16 n + 8 bytes together.
ColumnRanges ranges(const TallRows& a, const std::vector<std::string>& names, const comm::Communicator& comm,
                    int n_threads);

/// The least exponent from -1000 with magnitude < 2^exponent; 0 for 0. Local.
int exponent_above(double magnitude);

/// The map times the power of two that makes all values at most 1 in magnitude. Local.
BoundedMap bounded(ColumnMap map, const ColumnRanges& ranges);

/// Mean and standard deviation (of m - 1) of each column.
struct Moments {
  enum class Wanted { kMeans, kAll };

  std::vector<double> means;
  std::vector<double> deviations;  ///< 0 where all values are the same; empty if not wanted
};
/// Of a matrix with rows; deviations of one row are 0. Collective, as two column_sums(), three for deviations.
Moments moments(const TallRows& a, const ColumnRanges& ranges, Moments::Wanted wanted, const comm::Communicator& comm,
                int n_threads);

}  // namespace podere::linalg
