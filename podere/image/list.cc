#include "podere/image/list.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "podere/base/file_traffic.h"
#include "podere/base/find_files.h"
#include "podere/base/printable.h"
#include "podere/image/picture_store.h"
#include "podere/image/tar_archive.h"

namespace podere::image {
namespace {

namespace fs = std::filesystem;

constexpr FindRules kPictureFiles = {.most_files = 10'000'000};
constexpr std::size_t kTitleBytes = 400;

std::vector<std::uint8_t> read_file(const std::string& path, const std::string& title) {
  const auto fail = [&](const char* why) { throw_fault(FaultKind::kUnreadable, "{}: cannot be read: {}", title, why); };
  // Of a pipe nothing is waited for.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) fail(std::strerror(errno));
  const struct Closer {
    int descriptor;
    ~Closer() { close(descriptor); }
  } closer{descriptor};
  struct stat status {};
  if (fstat(descriptor, &status) != 0) fail(std::strerror(errno));
  if (!S_ISREG(status.st_mode)) fail("it is no file, but a folder, a pipe or a device");
  check_file_size(title, static_cast<std::uint64_t>(status.st_size));
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(status.st_size));
  CountedFileCall call(CountedFileCall::Kind::kRead);
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::read(descriptor, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(std::strerror(errno));
    if (n == 0) fail("it became shorter while it was read");
    done += static_cast<std::size_t>(n);
    call.add(static_cast<std::size_t>(n));
  }
  return bytes;
}

class Files : public PictureStore {
 public:
  explicit Files(std::vector<std::string> paths) : paths_(std::move(paths)) {}
  const std::string& file(std::size_t i) const override { return paths_[i]; }
  std::vector<std::uint8_t> read(std::size_t i, const std::string& title) const override {
    return read_file(paths_[i], title);
  }

 private:
  std::vector<std::string> paths_;
};

/// Some of the pictures of another store, in another order.
class Chosen : public PictureStore {
 public:
  static constexpr std::size_t kGone = ~std::size_t{0};

  /// `places` of each picture in `store`.
  Chosen(std::shared_ptr<const PictureStore> store, std::vector<std::size_t> places, std::string location)
      : store_(std::move(store)), places_(std::move(places)), location_(std::move(location)) {}
  const std::string& file(std::size_t i) const override {
    return places_[i] == kGone ? location_ : store_->file(places_[i]);
  }
  std::vector<std::uint8_t> read(std::size_t i, const std::string& title) const override {
    if (places_[i] == kGone) throw_fault(FaultKind::kUnreadable, "{}: is not there any more", title);
    return store_->read(places_[i], title);
  }

 private:
  std::shared_ptr<const PictureStore> store_;
  std::vector<std::size_t> places_;
  std::string location_;
};

PictureList list_folder(const std::string& location) {
  std::vector<std::string> paths;
  find_files_in(location, kPictureFiles, paths);
  const std::size_t n_files = paths.size();
  std::erase_if(paths, [](const std::string& path) { return !has_picture_name(path); });
  std::ranges::sort(paths);
  std::vector<std::string> names;
  for (const std::string& path : paths) {
    const std::size_t begin = location.size() + (location.ends_with('/') ? 0 : 1);
    names.push_back(path.substr(begin));
  }
  const std::size_t n_others = n_files - paths.size();
  return {location, std::move(names), n_others, std::make_shared<Files>(std::move(paths))};
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
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

PictureList list_of_list(const std::string& location) {
  std::vector<std::string> names = read_lines(location), paths;
  for (const std::string& name : names) paths.push_back((fs::path(location).parent_path() / name).string());
  return {location, std::move(names), 0, std::make_shared<Files>(std::move(paths))};
}

bool is_list_name(const std::string& path) {
  return path.ends_with(".txt") || path.ends_with(".lst") || path.ends_with(".list");
}

PictureList list_any(const std::string& location) {
  if (is_folder(location)) return list_folder(location);
  std::error_code unknown;
  if (!fs::exists(location, unknown) && is_pattern(location)) {
    std::vector<std::string> paths = find_fitting_files(location, kPictureFiles);
    return {location, paths, 0, std::make_shared<Files>(paths)};
  }
  if (!fs::exists(location, unknown)) {
    throw_input_error("{}: there is no such folder, archive, list or picture", printable_line(location, kTitleBytes));
  }
  if (is_tar_name(location)) {
    TarPictures pictures = open_tar(location);
    return {location, std::move(pictures.names), pictures.n_others, std::move(pictures.store)};
  }
  if (is_list_name(location)) return list_of_list(location);
  return {location, {location}, 0, std::make_shared<Files>(std::vector{location})};
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

PictureList::PictureList(std::string location, std::vector<std::string> names, std::size_t n_others,
                         std::shared_ptr<const PictureStore> store)
    : location_(std::move(location)), names_(std::move(names)), n_others_(n_others), store_(std::move(store)) {}

PictureList PictureList::as_named(std::vector<std::string> names) const {
  if (names == names_) return *this;
  std::unordered_map<std::string_view, std::size_t> place_of;
  for (std::size_t i = 0; i < names_.size(); ++i) place_of.emplace(names_[i], i);
  std::vector<std::size_t> places;
  for (const std::string& name : names) {
    const auto found = place_of.find(name);
    places.push_back(found == place_of.end() ? Chosen::kGone : found->second);
  }
  return {location_, std::move(names), n_others_, std::make_shared<Chosen>(store_, std::move(places), location_)};
}

std::string PictureList::title(std::size_t i) const {
  const bool is_archive = is_tar_name(location_);
  if (is_archive) return printable_line(location_ + ": " + names_[i], kTitleBytes);
  const bool is_below = names_[i] != location_ && is_folder(location_);
  return printable_line(is_below ? (fs::path(location_) / names_[i]).string() : names_[i], kTitleBytes);
}

std::string PictureList::folder(std::size_t i) const {
  const std::string& name = names_[i];
  const std::size_t end = name.rfind('/');
  if (end == name.npos) return "";
  const std::size_t begin = name.substr(0, end).rfind('/');
  return begin == name.npos ? name.substr(0, end) : name.substr(begin + 1, end - begin - 1);
}

std::string PictureList::file(std::size_t i) const { return store_->file(i); }

std::vector<std::uint8_t> PictureList::read(std::size_t i) const { return store_->read(i, title(i)); }

PictureList list_pictures(const std::string& location) {
  PictureList pictures = list_any(location);
  if (pictures.size() > 0) return pictures;
  throw_input_error("{}: has no pictures{}; pictures are files whose names end with .tif, .tiff, .jpg, .jpeg or .png",
                    printable_line(location, kTitleBytes),
                    pictures.n_others() > 0 ? fmt::format(", but {} other files", pictures.n_others()) : "");
}

}  // namespace podere::image
