// The loops of resize.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace podere::image {

/// Sums are of fixed-point numbers with so many bits behind the point, as Pillow has them: 8 bits of a pixel, 2 for
/// weights below 0 and above 1.
inline constexpr int kWeightBits = 32 - 8 - 2;

/// Of each place of the new side: the first old place that counts, and the weights from there on.
struct Weights {
  static constexpr std::size_t kBlock = 8;  ///< weights that are multiplied at once
  static constexpr int kLowBits = 15;

  std::size_t n_blocks = 0;  ///< for each place; 0 where there are fewer weights
  std::size_t n_weights() const { return n_blocks * kBlock; }
  std::vector<std::uint32_t> first;   ///< [n_new]
  std::vector<std::uint32_t> count;   ///< [n_new] of weights before the zeros
  std::vector<std::int32_t> weights;  ///< [n_new][n_weights()]
  /// The same in two halves that multiply to 32 bits: high * 2^15 + low [n_new][n_weights()]
  std::vector<std::int16_t> low, high;
};

/// out[x] = the sum of weights times values of `row`, rounded, for each new place x. Weights.n_weights() values may be
/// read behind the last of `row`.
void resample_row(const std::uint8_t* row, const Weights& weights, std::uint8_t* out);

/// out[i] = the sum over k of weights[k] * rows[k * stride + i], rounded, for i in [0, n).
void combine_rows(const std::uint8_t* rows, std::size_t stride, const std::int32_t* weights, std::size_t n_weights,
                  std::size_t n, std::uint8_t* out);

/// The three values of each of `n` pixels to three rows.
void split_channels(const std::uint8_t* rgb, std::size_t n, std::uint8_t* red, std::uint8_t* green, std::uint8_t* blue);

/// The other way round.
void join_channels(const std::uint8_t* red, const std::uint8_t* green, const std::uint8_t* blue, std::size_t n,
                   std::uint8_t* rgb);

}  // namespace podere::image
