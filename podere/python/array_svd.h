// Singular values and vectors of an array of this process.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "podere/base/progress.h"
#include "podere/linalg/prepare.h"
#include "podere/linalg/svd.h"
#include "podere/linalg/tall_matrix.h"

namespace podere::python {

/// Float64 of another, row by row.
struct ArrayView {
  const double* begin;
  std::size_t n_rows;
  std::size_t n_columns;
};

struct ArraySvd {
  linalg::Svd svd;
  std::vector<double> means;               ///< empty if not centered
  std::optional<linalg::TallMatrix> left;  ///< where it is wanted
};

/// What `podere svd` finds for the same values, bit for bit. Nothing, if progress.stop_requested()
/// after a pass. Throws InputError that begins with "X".
std::optional<ArraySvd> svd_of_array(const ArrayView& values, const std::vector<std::string>& names,
                                     const linalg::Preparation& preparation, const linalg::SvdOptions& options,
                                     bool wants_left, int n_threads, Progress& progress);

/// (X - mean) V [n_rows x rank], of `vectors` V [n_columns x rank]. Throws as svd_of_array.
linalg::TallMatrix scores_of_array(const ArrayView& values, const std::vector<std::string>& names,
                                   const std::vector<double>& mean, const ArrayView& vectors, int n_threads);

}  // namespace podere::python
