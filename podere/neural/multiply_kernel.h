// The matrix product of small dense layers.
#pragma once

#include <cstddef>

namespace podere::neural {

/// C [m x n] = A [m x k] B [k x n]. A lies in any order: element (i, s) is a[i * a_row + s * a_step]. Rows of B and C
/// begin at runs of kLanes floats, and n is a whole number of such runs.
///
/// Each element is one chain of fused multiply-adds over s = 0, 1, ..., whatever the width of vectors: the same bits on
/// every machine that has them.
struct Product {
  const float* a;
  std::size_t a_row;
  std::size_t a_step;
  const float* b;
  std::size_t b_stride;
  float* c;
  std::size_t c_stride;
  std::size_t m;
  std::size_t k;
  std::size_t n;
};
void multiply(const Product& product);

/// c[j * c_stride + i] = sum over s of a[i * stride + s] * b[j * stride + s]: for few rows j. `stride` is a whole
/// number of runs of kLanes, i < m <= kTileRows, j < n; c up to a whole number of runs of kLanes is written. Sums of
/// every kLanes-th product, then of these by halves: the same bits everywhere.
struct DotProducts {
  const float* a;
  const float* b;
  std::size_t stride;
  float* c;
  std::size_t c_stride;
  std::size_t m;
  std::size_t n;
};
void multiply_rows(const DotProducts& dots);

}  // namespace podere::neural
