// Products of blocks of rows, which are summed so that order does not matter.
#pragma once

#include <cstddef>
#include <span>

namespace podere::linalg {

/// Rows whose products are one chain of fused multiply-adds: these blocks begin at the same rows of a matrix on any
/// number of executors. Processors without such instructions round twice, and have other bits.
inline constexpr std::size_t kChainRows = 256;

/// A block of rows as the kernels have it: columns lie in panels of up to three vectors, row by row within a panel, and
/// the last vector is filled up with zeros. How wide vectors are is up to the processor.
std::size_t packed_size(std::size_t n_rows, std::size_t n_columns);

/// Packs (value - shift) * factor of `rows` [n_rows x shift.size()], row by row.
void pack(std::span<const double> rows, std::span<const double> shift, std::span<const double> factor, double* packed);

/// Two numbers that split any other of up to a limit: into a multiple of one unit, a multiple of a far smaller unit,
/// and what is left, which is lost. Sums of either kind of multiples are exact, so their order does not matter. Source:
/// J. Demmel, H. D. Nguyen, "Fast reproducible floating-point summation", ARITH 2013, with two bins.
struct Splitters {
  double high;
  double low;
};
/// For `n` numbers, n > 0, the sum of whose magnitudes is at most `bound`. What is lost of the sum is at most
/// bound n^2 2^-102.
Splitters splitters_for(double bound, double n);

/// How many numbers add_products() needs for A^T B of packed blocks with so many columns; of A^T A only the upper
/// triangle is there.
std::size_t sums_size(std::size_t n_a, std::size_t n_b, bool is_gram);

/// Adds A^T B of two packed blocks of `n_rows` to sums, split. A gram matrix has A = B.
struct BlockProduct {
  const double* a;
  std::size_t n_a;
  const double* b;
  std::size_t n_b;
  std::size_t n_rows;
  bool is_gram;
};
void add_products(const BlockProduct& product, const Splitters& splitters, double* sums);

/// The sums [n_a x n_b] by rows: those of the larger unit, and those of the smaller. Of a gram matrix what is below the
/// diagonal is not set.
void take_sums(std::span<const double> sums, std::size_t n_a, std::size_t n_b, bool is_gram, double* high, double* low);

/// Y = A X [n_rows x l] by rows, of a packed block [n_rows x n] and X [n x l] packed as a block of n rows: each element
/// is one chain of fused multiply-adds. l is a whole number of kResultColumns.
inline constexpr std::size_t kResultColumns = 8;
void multiply_packed(const double* a, std::size_t n_rows, std::size_t n, const double* x, std::size_t l, double* y);

}  // namespace podere::linalg
