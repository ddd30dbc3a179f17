// Which pictures a location means, and their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "podere/base/enum_names.h"
#include "podere/image/picture_fault.h"

namespace podere::image {

/// What lies where the pictures do, and is none of them.
struct LeftOut {
  std::size_t n_others = 0;    ///< files that are not called as pictures are
  std::size_t n_replaced = 0;  ///< pictures of an archive whose name one behind them has, too
};

/// Which pages of a TIFF are pictures.
enum class Pages { kFirst, kAll };
constexpr EnumNames<2> names_of(Pages /*enumeration*/) { return {"pages", {"first", "all"}}; }
using podere::to_string;

/// What was found at a location, from which reopen_pictures makes the same list.
struct FoundFiles {
  /// Below the folder or in the archive, with / between folders: "tips/a.tif". Of patterns and lists the path as it was
  /// found there. Bytes, which may not be UTF-8.
  std::vector<std::string> names;
  LeftOut left_out;
  /// So that archives are not searched again: a text without zero bytes, empty if there is no such.
  std::string places = {};
  std::vector<std::uint32_t> n_pages = {};  ///< of each file; empty: their first pages are the pictures
};

/// The bytes of a file, which the pages of a TIFF share.
class FileBytes {
 public:
  explicit FileBytes(std::vector<std::uint8_t> bytes) : bytes_(std::move(bytes)) {}
  const std::vector<std::uint8_t>& get() const { return bytes_; }
  /// Computed once. Thread-safe.
  const std::string& sha256() const;

 private:
  std::vector<std::uint8_t> bytes_;
  mutable std::once_flag is_hashed_;
  mutable std::string sha256_;
};

/// Where pictures lie together: a folder of the disk, or an archive.
class PictureStore;

/// Pictures in a fixed order: by their names as bytes; of a list or an archive in its order.
class PictureList {
 public:
  /// `title_prefix`: what messages put before names.
  PictureList(std::string location, FoundFiles files, std::string title_prefix,
              std::shared_ptr<const PictureStore> store);

  const std::string& location() const { return location_; }
  std::size_t size() const { return begins_.empty() ? files_.names.size() : begins_.back(); }
  /// That of its file; where this has several pages, with the number of the page: "tips/a.tif[2]".
  std::string name(std::size_t i) const;
  /// That of its file.
  const std::string& file_name(std::size_t i) const { return files_.names[place_of(i).file]; }
  /// Of its file, from 0.
  std::uint32_t page(std::size_t i) const { return place_of(i).page; }
  /// Whether there are other pages of its file.
  bool has_pages(std::size_t i) const { return file_has_pages(place_of(i).file); }
  /// What messages call it: fit to be printed.
  std::string title(std::size_t i) const;
  /// The folder that it lies in: "tips" of "tips/a.tif"; empty where there is none.
  std::string folder(std::size_t i) const;
  /// The file that it is in: itself, or the archive.
  std::string file(std::size_t i) const;
  /// Its file. Of those with several pages the last one is kept in memory, as its next page comes next. Thread-safe.
  /// Throws PictureFault if it cannot be read, or is beyond kMostFileBytes. What may be otherwise in a moment is tried
  /// again for some seconds; then throws Error, as the picture is not to blame.
  std::shared_ptr<const FileBytes> read(std::size_t i) const;
  const FoundFiles& files() const { return files_; }

  /// Makes each page a picture. A file whose pages cannot be counted stays one. Costs to read a little of each file, of
  /// archives all. Throws InputError for too many.
  void take_all_pages();

 private:
  struct Place {
    std::size_t file;
    std::uint32_t page;
  };
  /// The file whose pages are asked for.
  struct Kept {
    std::mutex mutex;
    std::size_t file = 0;
    std::shared_ptr<const FileBytes> bytes;
  };
  Place place_of(std::size_t i) const;
  bool file_has_pages(std::size_t file) const { return !files_.n_pages.empty() && files_.n_pages[file] > 1; }
  void set_begins();

  std::string location_;
  FoundFiles files_;
  std::vector<std::size_t> begins_;  ///< the first picture of each file, and how many there are; empty as n_pages
  std::string title_prefix_;
  std::shared_ptr<const PictureStore> store_;
  std::shared_ptr<Kept> kept_ = std::make_shared<Kept>();
};

/// Larger files are no pictures that fit into memory.
inline constexpr std::size_t kMostFileBytes = std::size_t{1} << 30;

/// The pictures, or their pages, of
///   a folder     all in it and below whose names end as those of pictures do, but for names that begin with a point;
///                links are followed, but not back up
///   a pattern    with *, ? or [...]: what fits, whatever it is called
///   a list       a text file (.txt, .lst or .list), one path a line, beside the list or absolute
///   an archive   .tar, also packed (.tar.gz, .tgz, .tar.zst, .tar.xz, .tar.bz2), read in place
///   a picture
/// Local. Throws InputError if there are none.
PictureList list_pictures(const std::string& location, Pages pages = Pages::kFirst);

/// Whether list_pictures reads the location as an archive.
bool is_archive(const std::string& location);

/// The files that these pictures are in: each, or the archive, which is not opened. Local. Throws as list_pictures.
std::vector<std::string> files_of_pictures(const std::string& location);

/// The pictures that list_pictures found at the location before, perhaps in another process: folders are not searched
/// again, nor are archives that are unchanged since. Those that are gone cannot be read. Local. Throws InputError where
/// all seem to be gone, or an archive cannot be opened.
PictureList reopen_pictures(const std::string& location, FoundFiles files);

}  // namespace podere::image
