// Which pictures a location means, and their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "podere/image/picture_fault.h"

namespace podere::image {

/// What lies where the pictures do, and is none of them.
struct LeftOut {
  std::size_t n_others = 0;    ///< files that are not called as pictures are
  std::size_t n_replaced = 0;  ///< pictures of an archive whose name one behind them has, too
};

/// Where pictures lie together: a folder of the disk, or an archive.
class PictureStore;

/// Pictures in a fixed order: by their names as bytes; of a list or an archive in its order.
class PictureList {
 public:
  /// `title_prefix`: what messages put before names.
  PictureList(std::string location, std::vector<std::string> names, LeftOut left_out, std::string title_prefix,
              std::shared_ptr<const PictureStore> store, std::string places = "");

  const std::string& location() const { return location_; }
  std::size_t size() const { return names_.size(); }
  /// Below the folder or in the archive, with / between folders: "tips/a.tif". Of patterns and lists the path as it was
  /// found there. Bytes, which may not be UTF-8.
  const std::string& name(std::size_t i) const { return names_[i]; }
  const std::vector<std::string>& names() const { return names_; }
  /// What messages call it: fit to be printed.
  std::string title(std::size_t i) const;
  /// The folder that it lies in: "tips" of "tips/a.tif"; empty where there is none.
  std::string folder(std::size_t i) const;
  /// The file that it is in: itself, or the archive.
  std::string file(std::size_t i) const;
  /// Thread-safe. Throws PictureFault if it cannot be read, or is beyond kMostFileBytes. What may be
  /// otherwise in a moment is tried again for some seconds; then throws Error, as the picture is not to blame.
  std::vector<std::uint8_t> read(std::size_t i) const;
  const LeftOut& left_out() const { return left_out_; }
  /// For reopen_pictures, which need not look for them then: a text without zero bytes, empty if there is no such.
  const std::string& places() const { return places_; }

 private:
  std::string location_;
  std::vector<std::string> names_;
  LeftOut left_out_;
  std::string title_prefix_;
  std::shared_ptr<const PictureStore> store_;
  std::string places_;
};

/// Larger files are no pictures that fit into memory.
inline constexpr std::size_t kMostFileBytes = std::size_t{1} << 30;

/// The pictures of
///   a folder     all in it and below whose names end as those of pictures do, but for names that begin with a point;
///                links are followed, but not back up
///   a pattern    with *, ? or [...]: what fits, whatever it is called
///   a list       a text file (.txt, .lst or .list), one path a line, beside the list or absolute
///   an archive   .tar, also packed (.tar.gz, .tgz, .tar.zst, .tar.xz, .tar.bz2), read in place
///   a picture
/// Local. Throws InputError if there are none.
PictureList list_pictures(const std::string& location);

/// Whether list_pictures reads the location as an archive.
bool is_archive(const std::string& location);

/// The files that these pictures are in: each, or the archive, which is not opened. Local. Throws as list_pictures.
std::vector<std::string> files_of_pictures(const std::string& location);

/// The pictures that list_pictures found at the location before, perhaps in another process: folders are not searched
/// again, nor are archives that are unchanged since `places` was made. Those that are gone cannot be read. Local.
/// Throws InputError where all seem to be gone, or an archive cannot be opened.
PictureList reopen_pictures(const std::string& location, std::vector<std::string> names, LeftOut left_out,
                            const std::string& places);

}  // namespace podere::image
