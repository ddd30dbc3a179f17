#include "podere/image/relief.h"

#include <algorithm>

namespace podere::image {
namespace {

void put(float z, float albedo, float& height, float& here) {
  if (z <= height) return;
  height = z;
  here = albedo;
}

/// Between -1 and 1, for whole x and y.
float lattice_value(std::uint64_t key, std::int64_t x, std::int64_t y) {
  const std::uint64_t bits =
      mix64(key + static_cast<std::uint64_t>(x) * kGoldenGamma + static_cast<std::uint64_t>(y) * 0xd1342543de82ef95ULL);
  return static_cast<float>(bits >> 40) * 0x1p-23F - 1;
}

float smooth(float t) { return t * t * (3 - 2 * t); }

}  // namespace

void Relief::add_ball(const Ball& ball) {
  around(ball.center, ball.radius, [&](Point p, float& height, float& here) {
    const float rest = ball.radius * ball.radius - dot(p - ball.center, p - ball.center);
    if (rest > 0) put(ball.z + std::sqrt(rest), ball.albedo, height, here);
  });
}

void Relief::take_ball(const Ball& ball) {
  around(ball.center, ball.radius, [&](Point p, float& height, float&) {
    const float rest = ball.radius * ball.radius - dot(p - ball.center, p - ball.center);
    if (rest > 0) height = std::min(height, ball.z - std::sqrt(rest));
  });
}

void Relief::add_rod(const Rod& rod) {
  const Point axis = rod.b - rod.a;
  const float squared = std::max(dot(axis, axis), 1e-6F);
  const float most = std::max(rod.radius_a, rod.radius_b);
  const auto cross = [&](Point p, float& height, float& here) {
    const float along = std::clamp(dot(p - rod.a, axis) / squared, 0.0F, 1.0F);
    const Point off = p - (rod.a + along * axis);
    const float radius = rod.radius_a + along * (rod.radius_b - rod.radius_a);
    const float rest = radius * radius - dot(off, off);
    if (rest > 0) put(rod.z + std::sqrt(rest), rod.albedo, height, here);
  };
  // In pieces, whose boxes hold little else.
  const float n = std::ceil(std::sqrt(squared) / std::max(4 * most, 24.0F));
  const float reach = 0.5F * std::sqrt(squared) / n + most;
  for (int i = 0; i < static_cast<int>(n); ++i)
    around(rod.a + ((static_cast<float>(i) + 0.5F) / n) * axis, reach, cross);
}

void Relief::add_box(const Box& box) {
  around(box.center, box.half_length + box.half_width + box.flank, [&](Point p, float& height, float& here) {
    const Point off = p - box.center;
    const float inside = std::min(box.half_length - std::abs(dot(off, box.along)),
                                  box.half_width - std::abs(dot(off, across(box.along))));
    if (inside > -box.flank) put(box.z * std::min(1 + inside / box.flank, 1.0F), box.albedo, height, here);
  });
}

void Relief::add_noise(const Noise& noise) {
  float wavelength = noise.wavelength, amplitude = noise.amplitude;
  for (int octave = 0; octave < noise.n_octaves; ++octave, wavelength /= 2, amplitude /= 2) {
    const std::uint64_t octave_key = mix64(noise.key + static_cast<std::uint64_t>(octave));
    for (int y = 0; y < height_; ++y) {
      const float fy = static_cast<float>(y) / wavelength;
      const auto cell_y = static_cast<std::int64_t>(fy);
      const float ty = smooth(fy - static_cast<float>(cell_y));
      float* const row = heights(y);
      std::int64_t cell_x = -1;
      float left = 0, right = 0;
      for (int x = 0; x < width_; ++x) {
        const float fx = static_cast<float>(x) / wavelength;
        const auto cell = static_cast<std::int64_t>(fx);
        const auto column = [&](std::int64_t at) {
          const float above = lattice_value(octave_key, at, cell_y);
          return above + ty * (lattice_value(octave_key, at, cell_y + 1) - above);
        };
        if (cell != cell_x) {
          left = column(cell);
          right = column(cell + 1);
          cell_x = cell;
        }
        row[x] += amplitude * (left + smooth(fx - static_cast<float>(cell)) * (right - left));
      }
    }
  }
}

}  // namespace podere::image
