#include "podere/tune/sobol_sequence.h"

#include <bit>

namespace podere::tune {
namespace {

struct JoeKuo {
  std::uint32_t polynomial;              ///< primitive modulo 2; bit i is the coefficient of x^i
  std::array<std::uint32_t, 8> numbers;  ///< m_1, m_2, ..., as many as its degree
};

/// Dimensions 2, 3, ... of new-joe-kuo-6.21201, whose file leaves out the first and last coefficient.
constexpr std::array<JoeKuo, SobolSequence::kMostDimensions - 1> kJoeKuo = {{
    {3, {1}},
    {7, {1, 3}},
    {11, {1, 3, 1}},
    {13, {1, 1, 1}},
    {19, {1, 1, 3, 3}},
    {25, {1, 3, 5, 13}},
    {37, {1, 1, 5, 5, 17}},
    {41, {1, 1, 5, 5, 5}},
    {47, {1, 1, 7, 11, 19}},
    {55, {1, 1, 5, 1, 1}},
    {59, {1, 1, 1, 3, 11}},
    {61, {1, 3, 5, 5, 31}},
    {67, {1, 3, 3, 9, 7, 49}},
    {91, {1, 1, 1, 15, 21, 21}},
    {97, {1, 3, 1, 13, 27, 49}},
    {103, {1, 1, 1, 15, 7, 5}},
    {109, {1, 3, 1, 15, 13, 25}},
    {115, {1, 1, 5, 5, 19, 61}},
    {131, {1, 3, 7, 11, 23, 15, 103}},
    {137, {1, 3, 7, 13, 13, 15, 69}},
    {143, {1, 1, 3, 13, 7, 35, 63}},
    {145, {1, 3, 5, 9, 1, 25, 53}},
    {157, {1, 3, 1, 13, 9, 35, 107}},
    {167, {1, 3, 1, 5, 27, 61, 31}},
    {171, {1, 1, 5, 11, 19, 41, 61}},
    {185, {1, 3, 5, 3, 3, 13, 69}},
    {191, {1, 1, 7, 13, 1, 19, 1}},
    {193, {1, 3, 7, 5, 13, 19, 59}},
    {203, {1, 1, 3, 9, 25, 29, 41}},
    {211, {1, 3, 5, 13, 23, 1, 55}},
    {213, {1, 3, 7, 3, 13, 59, 17}},
    {229, {1, 3, 1, 3, 5, 53, 69}},
    {239, {1, 1, 5, 5, 23, 33, 13}},
    {241, {1, 1, 7, 7, 1, 61, 123}},
    {247, {1, 1, 7, 9, 13, 61, 49}},
    {253, {1, 3, 3, 5, 3, 55, 33}},
    {285, {1, 3, 1, 15, 31, 13, 49, 245}},
    {299, {1, 3, 5, 15, 31, 59, 63, 97}},
    {301, {1, 3, 1, 11, 11, 11, 77, 249}},
}};

/// v_k = m_k / 2^k as fractions of 64 bits. From the degree s on,
///   m_k = 2 a_1 m_(k-1) + 2^2 a_2 m_(k-2) + ... + 2^s m_(k-s) + m_(k-s)   (+ is exclusive or)
std::array<std::uint64_t, 64> directions_of(const JoeKuo& dimension) {
  const int degree = std::bit_width(dimension.polynomial) - 1;
  std::array<std::uint64_t, 64> directions{};
  for (int k = 0; k < 64; ++k) {
    if (k < degree) {
      directions[k] = std::uint64_t{dimension.numbers[k]} << (63 - k);
      continue;
    }
    directions[k] = directions[k - degree] ^ (directions[k - degree] >> degree);
    for (int i = 1; i < degree; ++i) {
      if ((dimension.polynomial >> (degree - i)) & 1U) directions[k] ^= directions[k - i];
    }
  }
  return directions;
}

}  // namespace

SobolSequence::SobolSequence(std::size_t n_dimensions) {
  for (std::size_t d = 0; d < n_dimensions; ++d) {
    if (d > 0) {
      directions_.push_back(directions_of(kJoeKuo[d - 1]));
      continue;
    }
    std::array<std::uint64_t, 64>& first = directions_.emplace_back();  // van der Corput's
    for (int k = 0; k < 64; ++k) first[k] = std::uint64_t{1} << (63 - k);
  }
}

std::vector<std::uint64_t> SobolSequence::point(std::uint64_t index) const {
  std::vector<std::uint64_t> point(directions_.size(), 0);
  for (std::uint64_t gray = index ^ (index >> 1); gray != 0; gray &= gray - 1) {
    const int k = std::countr_zero(gray);
    for (std::size_t d = 0; d < point.size(); ++d) point[d] ^= directions_[d][k];
  }
  return point;
}

}  // namespace podere::tune
