// Simulated micrographs: what a scanning electron microscope would show of ten kinds of objects.
//
// An object is a relief, a height for each pixel, drawn by chance: its shapes, sizes, places and how it lies. Secondary
// electrons leave slopes and edges more easily than flats, and hollows hardly at all:
//
//   I = brightness of the material * (a + b s / (1 + s)) * shadow + light of the detector's side,   s = |slope|
//
// Then blur of the beam, contrast and brightness as an operator may have set them, shot noise, and the bar with the
// legend. Contrast and brightness are drawn for each picture, so that neither says what it shows. Simpler than nature:
// no charging, no depth of focus, no transparency of thin things; a relief has no overhangs.
//
// Same bits on every machine: no std distribution, and of the C library only sqrt.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "podere/image/picture.h"

namespace podere::image {

inline constexpr std::uint32_t kMicrographWidth = 1024;
inline constexpr std::uint32_t kMicrographHeight = 768;

/// As microscopists sort their pictures. In this order they are the classes.
inline constexpr std::array<std::string_view, 10> kMicrographKinds = {
    "biological", "devices", "fibers", "films", "nanowires", "particles", "patterned", "porous", "powder", "tips"};

struct Micrograph {
  int kind = 0;     ///< in kMicrographKinds
  Picture picture;  ///< gray, with the legend
  double pixel_size_nm = 0;
  double voltage_kv = 0;
  double working_distance_mm = 0;
  std::string_view detector;
};

/// Which kind picture `index` of `seed` shows.
int micrograph_kind(std::uint64_t seed, std::uint64_t index);

/// Picture `index` of the set that belongs to `seed`. Depends on nothing else.
Micrograph make_micrograph(std::uint64_t seed, std::uint64_t index);

/// As Zeiss's microscopes write it: an 8-bit TIFF with a palette, one strip, and their metadata in tag 34118.
std::string to_tiff(const Micrograph& micrograph);

}  // namespace podere::image
