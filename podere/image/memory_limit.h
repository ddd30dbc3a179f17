// How much memory a picture may take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "podere/image/picture_fault.h"

namespace podere::image {

/// Throws PictureFault for a picture without pixels, and where width x height pixels of so many bytes each and
/// `n_other_bytes` are more than `max_bytes`.
inline void check_memory(const std::string& name, std::uint64_t width, std::uint64_t height,
                         std::uint64_t bytes_per_pixel, std::uint64_t n_other_bytes, std::size_t max_bytes) {
  if (width == 0 || height == 0) {
    throw_fault(FaultKind::kDamaged, "{}: has {} x {} pixels, allowed are 1 x 1 and more", name, width, height);
  }
  constexpr std::uint64_t kMost = std::uint64_t{1} << 31;  // of both, and of the bytes of a pixel: products fit
  const bool fits = width < kMost && height < kMost && bytes_per_pixel < kMost && n_other_bytes <= max_bytes &&
                    width * height <= (max_bytes - n_other_bytes) / bytes_per_pixel;
  if (fits) return;
  throw_fault(FaultKind::kTooLarge,
              "{}: has {} x {} pixels, which take more than the {} MB allowed for a picture; make it smaller", name,
              width, height, max_bytes >> 20);
}

}  // namespace podere::image
