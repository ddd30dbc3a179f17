#include "podere/image/list.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>

#include "podere/base/file_traffic.h"
#include "podere/base/find_files.h"
#include "podere/base/printable.h"
#include "podere/base/sha256.h"
#include "podere/image/picture_store.h"
#include "podere/image/tar_archive.h"
#include "podere/image/tiff_file.h"

namespace podere::image {
namespace {

namespace fs = std::filesystem;

constexpr FindRules kPictureFiles = {.most_files = 10'000'000};
constexpr std::size_t kTitleBytes = 400;

/// What may be otherwise in a moment: a server that is busy or starts anew, too many files that are open, too little
/// memory.
bool may_pass(int error) {
  constexpr std::array kPassing = {EIO, ESTALE, EAGAIN, ETIMEDOUT, EMFILE, ENFILE, ENOMEM, ENOBUFS};
  return std::ranges::find(kPassing, error) != kPassing.end();
}

/// The content of a file; nothing, with errno, where that fails.
std::optional<std::vector<std::uint8_t>> try_to_read(const std::string& path, const std::string& title) {
  // Of a pipe nothing is waited for.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return std::nullopt;
  const struct Closer {
    int descriptor;
    ~Closer() {
      const int error = errno;
      close(descriptor);
      errno = error;
    }
  } closer{descriptor};
  const auto fail = [&](const char* why) { throw_fault(FaultKind::kUnreadable, "{}: cannot be read: {}", title, why); };
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return std::nullopt;
  if (!S_ISREG(status.st_mode)) fail("it is no file, but a folder, a pipe or a device");
  check_file_size(title, static_cast<std::uint64_t>(status.st_size));
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(status.st_size));
  CountedFileCall call(CountedFileCall::Kind::kRead);
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::read(descriptor, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::nullopt;
    if (n == 0) fail("it became shorter while it was read");
    done += static_cast<std::size_t>(n);
    call.add(static_cast<std::size_t>(n));
  }
  return bytes;
}

std::vector<std::uint8_t> read_file(const std::string& path, const std::string& title) {
  for (const auto pause : {std::chrono::milliseconds(100), std::chrono::milliseconds(3000), {}}) {
    if (auto bytes = try_to_read(path, title)) return *std::move(bytes);
    if (!may_pass(errno) || pause == pause.zero()) break;
    std::this_thread::sleep_for(pause);
  }
  const int error = errno;
  if (may_pass(error) && error != EIO) throw_error("{}: cannot be read now: {}", title, std::strerror(error));
  throw_fault(FaultKind::kUnreadable, "{}: cannot be read: {}", title, std::strerror(error));
}

class Files : public PictureStore {
 public:
  explicit Files(std::vector<std::string> paths) : paths_(std::move(paths)) {}
  const std::string& file(std::size_t i) const override { return paths_[i]; }
  std::vector<std::uint8_t> read(std::size_t i, const std::string& title) const override {
    return read_file(paths_[i], title);
  }
  std::uint32_t count_pages(std::size_t i, const std::string&) const override { return count_tiff_pages(paths_[i]); }

 private:
  std::vector<std::string> paths_;
};

/// The pictures of an archive that have some names, in the order of these.
class Chosen : public PictureStore {
 public:
  Chosen(TarPictures all, const std::vector<std::string>& names, std::string location)
      : store_(std::move(all.store)), location_(std::move(location)) {
    std::unordered_map<std::string_view, std::size_t> place_of;
    for (std::size_t i = 0; i < all.names.size(); ++i) place_of.emplace(all.names[i], i);
    for (const std::string& name : names) {
      const auto found = place_of.find(name);
      places_.push_back(found == place_of.end() ? kGone : found->second);
    }
  }
  const std::string& file(std::size_t) const override { return location_; }
  std::vector<std::uint8_t> read(std::size_t i, const std::string& title) const override {
    if (places_[i] == kGone) throw_fault(FaultKind::kUnreadable, "{}: is not there any more", title);
    return store_->read(places_[i], title);
  }

 private:
  static constexpr std::size_t kGone = ~std::size_t{0};

  std::shared_ptr<const PictureStore> store_;
  std::vector<std::size_t> places_;
  std::string location_;
};

std::string as_folder(const std::string& location) { return location.ends_with('/') ? location : location + "/"; }

PictureList in_folder(const std::string& location, FoundFiles files) {
  const std::string folder = as_folder(location);
  std::vector<std::string> paths;
  for (const std::string& name : files.names) paths.push_back(folder + name);
  return {location, std::move(files), folder, std::make_shared<Files>(std::move(paths))};
}

PictureList list_folder(const std::string& location) {
  std::vector<std::string> names;
  find_files_in(location, kPictureFiles, names);
  const std::size_t n_files = names.size();
  std::erase_if(names, [](const std::string& path) { return !has_picture_name(path); });
  for (std::string& name : names) name.erase(0, as_folder(location).size());
  std::ranges::sort(names);
  const LeftOut left_out = {.n_others = n_files - names.size()};
  return in_folder(location, {std::move(names), left_out});
}

/// Paths in a text file, one a line.
std::vector<std::string> read_lines(const std::string& location) {
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 30;
  std::error_code unknown;
  std::ifstream in(location, std::ios::binary);
  if (!in || fs::file_size(location, unknown) > kMostBytes) {
    throw_input_error("{}: cannot be read as a list of pictures", printable_line(location, kTitleBytes));
  }
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (lines.empty() && line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);  // the mark of UTF-8
    if (line.find('\0') != line.npos) {
      throw_input_error("{}: has zero bytes, perhaps as UTF-16: a list is plain text, such as UTF-8",
                        printable_line(location, kTitleBytes));
    }
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

PictureList in_list(const std::string& location, FoundFiles files) {
  std::vector<std::string> paths;
  for (const std::string& name : files.names) paths.push_back((fs::path(location).parent_path() / name).string());
  return {location, std::move(files), "", std::make_shared<Files>(std::move(paths))};
}

bool is_list_name(const std::string& path) {
  return path.ends_with(".txt") || path.ends_with(".lst") || path.ends_with(".list");
}

/// Files by their paths.
PictureList as_paths(const std::string& location, FoundFiles files) {
  auto store = std::make_shared<Files>(files.names);
  return {location, std::move(files), "", std::move(store)};
}

std::string tar_prefix(const std::string& location) { return location + ": "; }

PictureList list_any(const std::string& location) {
  if (location.empty()) throw InputError("no pictures are named: name a folder, a pattern, a list, an archive");
  if (is_folder(location)) return list_folder(location);
  std::error_code unknown;
  if (!fs::exists(location, unknown)) {
    if (is_pattern(location)) return as_paths(location, {find_fitting_files(location, kPictureFiles), {}});
    throw_input_error("{}: there is no such folder, archive, list or picture", printable_line(location, kTitleBytes));
  }
  if (is_tar_name(location)) {
    TarPictures pictures = open_tar(location);
    return {location,
            {std::move(pictures.names), pictures.left_out, std::move(pictures.places)},
            tar_prefix(location),
            std::move(pictures.store)};
  }
  if (is_list_name(location)) return in_list(location, {read_lines(location), {}});
  return as_paths(location, {{location}, {}});
}

/// As list_any, of pictures that are known.
PictureList reopen_any(const std::string& location, FoundFiles files) {
  std::error_code unknown;
  if (is_folder(location)) return in_folder(location, std::move(files));
  if (!fs::exists(location, unknown)) return as_paths(location, std::move(files));
  if (is_tar_name(location)) {
    std::shared_ptr<const PictureStore> store = reopen_tar(location, files.names, files.places);
    if (!store) store = std::make_shared<Chosen>(open_tar(location), files.names, location);
    return {location, std::move(files), tar_prefix(location), std::move(store)};
  }
  if (is_list_name(location)) return in_list(location, std::move(files));
  return as_paths(location, std::move(files));
}

/// Throws InputError where none of the first pictures is there: a disk that is not mounted, or is another machine's.
void check_some_are_there(const PictureList& pictures) {
  const std::size_t n = pictures.size();
  for (std::size_t i = 0; i < n; ++i) {
    std::error_code unknown;
    if (fs::symlink_status(pictures.file(i), unknown).type() != fs::file_type::not_found) return;
  }
  if (n == 0) return;
  throw_input_error(
      "{}: none of its {} pictures is there, such as {}: all executors, and runs that continue, need the same files; "
      "the "
      "paths of a list are relative to its folder",
      printable_line(pictures.location(), kTitleBytes), n, pictures.title(0));
}

}  // namespace

bool has_picture_name(std::string_view name) {
  constexpr std::array<std::string_view, 13> kEndings = {".tif", ".tiff", ".jpg", ".jpeg", ".jpe", ".jfif", ".png",
                                                         // which are refused, but not left out
                                                         ".gif", ".bmp", ".webp", ".jp2", ".heic", ".avif"};
  std::string low(name.substr(name.rfind('.') == name.npos ? name.size() : name.rfind('.')));
  std::ranges::transform(low, low.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::find(kEndings, low) != kEndings.end();
}

const std::string& FileBytes::sha256() const {
  std::call_once(is_hashed_, [this] {
    sha256_ = sha256_of({reinterpret_cast<const char*>(bytes_.data()), bytes_.size()});
  });
  return sha256_;
}

PictureList::PictureList(std::string location, FoundFiles files, std::string title_prefix,
                         std::shared_ptr<const PictureStore> store)
    : location_(std::move(location)),
      files_(std::move(files)),
      title_prefix_(std::move(title_prefix)),
      store_(std::move(store)) {
  set_begins();
}

void PictureList::set_begins() {
  if (files_.n_pages.empty()) return;
  begins_.assign(1, 0);
  for (const std::uint32_t n : files_.n_pages) begins_.push_back(begins_.back() + n);
}

void PictureList::take_all_pages() {
  for (std::size_t file = 0; file < files_.names.size(); ++file) {
    try {
      const std::string title = printable_line(title_prefix_ + files_.names[file], kTitleBytes);
      files_.n_pages.push_back(store_->count_pages(file, title));
    } catch (const PictureFault&) {  // is one when the picture is read
      files_.n_pages.push_back(1);
    }
  }
  set_begins();
  if (size() <= kPictureFiles.most_files) return;
  throw_input_error("{}: has {} pages, allowed are {}", printable_line(location_, kTitleBytes), size(),
                    kPictureFiles.most_files);
}

PictureList::Place PictureList::place_of(std::size_t i) const {
  if (begins_.empty()) return {i, 0};
  const auto behind = std::ranges::upper_bound(begins_, i);
  return {static_cast<std::size_t>(behind - begins_.begin()) - 1, static_cast<std::uint32_t>(i - *std::prev(behind))};
}

std::string PictureList::name(std::size_t i) const {
  const auto [file, page] = place_of(i);
  return file_has_pages(file) ? fmt::format("{}[{}]", files_.names[file], page) : files_.names[file];
}

std::string PictureList::title(std::size_t i) const { return printable_line(title_prefix_ + name(i), kTitleBytes); }

std::string PictureList::folder(std::size_t i) const {
  const std::string& name = file_name(i);
  const std::size_t end = name.rfind('/');
  if (end == name.npos) return "";
  const std::size_t begin = name.substr(0, end).rfind('/');
  return begin == name.npos ? name.substr(0, end) : name.substr(begin + 1, end - begin - 1);
}

std::string PictureList::file(std::size_t i) const { return store_->file(place_of(i).file); }

std::shared_ptr<const FileBytes> PictureList::read(std::size_t i) const {
  const std::size_t file = place_of(i).file;
  if (!file_has_pages(file)) return std::make_shared<const FileBytes>(store_->read(file, title(i)));
  const std::lock_guard lock(kept_->mutex);
  if (kept_->bytes == nullptr || kept_->file != file) {
    kept_->bytes.reset();
    kept_->bytes = std::make_shared<const FileBytes>(store_->read(file, title(i)));
    kept_->file = file;
  }
  return kept_->bytes;
}

PictureList list_pictures(const std::string& location, Pages pages) {
  PictureList pictures = list_any(location);
  if (pages == Pages::kAll) pictures.take_all_pages();
  if (pictures.size() > 0) return pictures;
  const std::size_t n_others = pictures.files().left_out.n_others;
  throw_input_error("{}: has no pictures{}; pictures are files whose names end with .tif, .tiff, .jpg, .jpeg or .png",
                    printable_line(location, kTitleBytes),
                    n_others > 0 ? fmt::format(", but {} other files", n_others) : "");
}

bool is_archive(const std::string& location) {
  std::error_code unknown;
  return is_tar_name(location) && fs::exists(location, unknown) && !is_folder(location);
}

std::vector<std::string> files_of_pictures(const std::string& location) {
  if (is_archive(location)) return {location};
  const PictureList pictures = list_pictures(location);
  std::vector<std::string> files;
  for (std::size_t i = 0; i < pictures.size(); ++i) files.push_back(pictures.file(i));
  return files;
}

PictureList reopen_pictures(const std::string& location, FoundFiles files) {
  PictureList pictures = reopen_any(location, std::move(files));
  check_some_are_there(pictures);
  return pictures;
}

}  // namespace podere::image
