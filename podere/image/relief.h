// A surface that shapes are put on.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "podere/base/hash.h"

namespace podere::image {

struct Point {
  float x = 0;
  float y = 0;
};
inline Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
inline Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
inline Point operator*(float s, Point a) { return {s * a.x, s * a.y}; }
inline float dot(Point a, Point b) { return a.x * b.x + a.y * b.y; }
inline float length(Point a) { return std::sqrt(dot(a, a)); }
/// A quarter turn on.
inline Point across(Point a) { return {-a.y, a.x}; }

/// Random numbers as shapes need them.
class Dice {
 public:
  explicit Dice(RandomSequence random) : random_(random) {}
  float between(float least, float most) { return least + (most - least) * static_cast<float>(random_.uniform()); }
  int whole(int least, int most) {
    return least + static_cast<int>(random_.next() % static_cast<std::uint64_t>(most - least + 1));
  }
  bool happens(float share) { return between(0, 1) < share; }
  /// Small sizes often, large ones seldom: density as 1 / size^2.
  float size(float least, float most) { return 1 / between(1 / most, 1 / least); }
  /// Of length 1.
  Point direction() {
    while (true) {
      const Point p{between(-1, 1), between(-1, 1)};
      const float n = length(p);
      if (n > 0.1F && n < 1) return (1 / n) * p;
    }
  }
  std::uint64_t next() { return random_.next(); }

 private:
  RandomSequence random_;
};

// Shapes. They are made with braces, in which random numbers are drawn from left to right: the order of a function's
// arguments is the compiler's choice.

/// Its middle lies at height `z`.
struct Ball {
  Point center;
  float radius, z;
  float albedo = 1;
};

/// From `a` to `b` the radius goes from `radius_a` to `radius_b`; the axis lies at height `z`.
struct Rod {
  Point a, b;
  float radius_a, radius_b, z, albedo;
};

/// `along` (of length 1) is the direction of its length; its top lies at `z`, its flanks are as wide as `flank`.
struct Box {
  Point center, along;
  float half_length, half_width, z, flank, albedo;
};

/// Waves of chance: value noise of wavelengths from `wavelength` down, each half as high as the one before.
struct Noise {
  std::uint64_t key;
  float wavelength;
  int n_octaves;
  float amplitude;
};

/// Heights in pixels, and how bright the material is, of width x height pixels.
class Relief {
 public:
  Relief(std::uint32_t width, std::uint32_t height)
      : width_(static_cast<int>(width)),
        height_(static_cast<int>(height)),
        heights_(std::size_t{width} * height, 0.0F),
        albedos_(heights_.size(), 1.0F) {}

  int width() const { return width_; }
  int height() const { return height_; }
  float* heights(int y) { return heights_.data() + std::size_t(y) * std::size_t(width_); }
  float* albedos(int y) { return albedos_.data() + std::size_t(y) * std::size_t(width_); }
  Point random_point(Dice& dice, float margin = 0) const {
    return {dice.between(-margin, static_cast<float>(width_) + margin),
            dice.between(-margin, static_cast<float>(height_) + margin)};
  }

  /// Calls change(Point, height&, albedo&) for the pixels within `reach` of `center` along x and y.
  template <typename Change>
  void around(Point center, float reach, const Change& change) {
    const int x0 = clip(center.x - reach, width_), x1 = clip(center.x + reach + 1, width_);
    const int y0 = clip(center.y - reach, height_), y1 = clip(center.y + reach + 1, height_);
    for (int y = y0; y < y1; ++y) {
      float* const h = heights(y);
      float* const a = albedos(y);
      for (int x = x0; x < x1; ++x) change(Point{static_cast<float>(x), static_cast<float>(y)}, h[x], a[x]);
    }
  }
  template <typename Change>
  void everywhere(const Change& change) {
    around({0, 0}, static_cast<float>(width_ + height_), change);
  }

  void add_ball(const Ball& ball);
  /// What a ball leaves where it is taken away from a solid.
  void take_ball(const Ball& ball);
  void add_rod(const Rod& rod);
  void add_box(const Box& box);
  void add_noise(const Noise& noise);

 private:
  static int clip(float at, int end) {
    return at <= 0 ? 0 : at >= static_cast<float>(end) ? end : static_cast<int>(at);
  }

  int width_;
  int height_;
  std::vector<float> heights_;
  std::vector<float> albedos_;
};

}  // namespace podere::image
