// The Sobol sequence: points that fill the unit cube evenly.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace podere::tune {

/// Coordinates are binary fractions of 64 bits. Of any 2^k points from a multiple of 2^k on, each of the 2^k equal
/// slices of each dimension has one.
///
/// Source: Joe and Kuo, "Constructing Sobol sequences with better two-dimensional projections", SIAM J. Sci. Comput. 30
/// (2008), with their direction numbers (new-joe-kuo-6) and points in Gray code order.
class SobolSequence {
 public:
  static constexpr std::size_t kMostDimensions = 40;

  /// Precondition: n_dimensions <= kMostDimensions
  explicit SobolSequence(std::size_t n_dimensions);

  /// Point 0, 1, 2, ...: the fractions times 2^64.
  std::vector<std::uint64_t> point(std::uint64_t index) const;

 private:
  std::vector<std::array<std::uint64_t, 64>> directions_;
};

}  // namespace podere::tune
