#include "podere/linalg/tall_matrix.h"

namespace podere::linalg {

void TallMatrix::keep_columns(std::span<const std::size_t> columns) {
  const std::size_t n_before = n_rows() * n_columns();
  double* to = memory_.data();
  for (std::size_t i = 0; i < n_rows(); ++i) {
    const double* const from = memory_.data() + i * n_columns();
    for (const std::size_t j : columns) *to++ = from[j];  // never ahead of what is still to be read
  }
  TallRows::operator=(TallRows(n_global_rows(), columns.size(), rows(), memory_.data()));
  memory_.release(n_rows() * n_columns(), n_before);
}

}  // namespace podere::linalg
