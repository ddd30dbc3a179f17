// Pictures in tar archives, read where they lie.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "podere/image/list.h"
#include "podere/image/picture_store.h"

namespace podere::image {

struct TarPictures {
  std::vector<std::string> names;  ///< in the order of the archive; of a name that comes twice the last
  LeftOut left_out;
  std::shared_ptr<const PictureStore> store;
  std::string places;  ///< for reopen_tar
};

/// Whether a file's name ends as that of a tar archive.
bool is_tar_name(const std::string& path);

/// The pictures of an archive: of a plain one each is read at its place; a packed one is unpacked from its begin on, as
/// far as the picture, and from there to the next. Throws InputError.
TarPictures open_tar(const std::string& path);

/// The pictures that open_tar found in the archive, whose names these are, without going through it again. Null where
/// the archive is not the one that `places` is of, by its size and time.
std::shared_ptr<const PictureStore> reopen_tar(const std::string& path, const std::vector<std::string>& names,
                                               const std::string& places);

}  // namespace podere::image
