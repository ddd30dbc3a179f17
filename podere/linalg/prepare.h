// What is done with the columns of a matrix before it is decomposed.
#pragma once

#include <string>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/linalg/column_facts.h"
#include "podere/linalg/tall_matrix.h"

namespace podere::linalg {

struct Preparation {
  bool center = false;  ///< subtracts the mean of each column
  bool scale = false;   ///< divides each column by its standard deviation, too
};

struct Prepared {
  BoundedMap map;
  ColumnRanges ranges;  ///< of the matrix as it is
  Moments moments;      ///< means if columns are centered or scaled, deviations if they are scaled
};

/// Finds the map from the values of a matrix with rows to those that are decomposed. `names` of columns are for
/// messages. Throws, the same on all ranks, NotFinite, and InputError for values above 1e290 and for constant columns
/// that are to be scaled. Collective, as ranges() and moments().
Prepared prepare(const TallRows& a, const std::vector<std::string>& names, const Preparation& wanted,
                 const comm::Communicator& comm, int n_threads);

/// The columns that have a value in a row at least. Collective: one all_reduce of 8 n bytes.
std::vector<std::size_t> columns_with_values(const TallRows& a, const comm::Communicator& comm, int n_threads);

/// Replaces each NaN by the mean of the other values of its column. Returns how
/// many were replaced in each column. Throws, the same on all ranks, InputError for a column without any value, and for
/// one whose missing values cannot be replaced, since others are infinite. Collective: three all_reduce, of 8 n, 560
/// for each column with missing values and 8 bytes.
std::vector<std::uint64_t> fill_with_means(TallMatrix& a, const std::vector<std::string>& names,
                                           const comm::Communicator& comm, int n_threads);

}  // namespace podere::linalg
