// Where the bytes of pictures come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "podere/image/decode.h"
#include "podere/image/list.h"

namespace podere::image {

class PictureStore {
 public:
  virtual ~PictureStore() = default;
  /// The file that picture `i` is in.
  virtual const std::string& file(std::size_t i) const = 0;
  /// The bytes of picture `i`, which messages call `title`. Thread-safe. Throws PictureFault.
  virtual std::vector<std::uint8_t> read(std::size_t i, const std::string& title) const = 0;
  /// As image::count_pages. Throws as read().
  virtual std::uint32_t count_pages(std::size_t i, const std::string& title) const {
    return image::count_pages(read(i, title), title);
  }
};

/// Whether a name ends as those of pictures do, in capitals or not.
bool has_picture_name(std::string_view name);

/// Throws PictureFault for a file that no picture is as large as.
inline void check_file_size(const std::string& title, std::uint64_t n_bytes) {
  if (n_bytes <= kMostFileBytes) return;
  throw_fault(FaultKind::kTooLarge, "{}: has {} bytes, allowed for a picture are {}", title, n_bytes, kMostFileBytes);
}

}  // namespace podere::image
