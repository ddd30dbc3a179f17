// Cosines of many angles.
#pragma once

#include <cstddef>
#include <span>

namespace podere::linear {

/// Replaces each of `turns` by cos(2 pi turns), as cosine_of_turns() has it.
void to_cosines(std::span<double> turns);

/// sum_i a[i] b[i], as eight interleaved sums of products that are rounded.
double dot_in_lanes(const double* a, const double* b, std::size_t n);

}  // namespace podere::linear
