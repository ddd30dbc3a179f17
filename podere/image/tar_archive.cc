#include "podere/image/tar_archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "podere/base/file_traffic.h"
#include "podere/base/number.h"
#include "podere/base/printable.h"

namespace podere::image {
namespace {

/// A file that an archive is read from, at any place.
class ArchiveFile {
 public:
  explicit ArchiveFile(std::string path)
      : path_(std::move(path)), descriptor_(open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) throw_input_error("{}: cannot be read: {}", printable_line(path_, 400), std::strerror(errno));
  }
  ~ArchiveFile() { close(descriptor_); }
  ArchiveFile(const ArchiveFile&) = delete;
  ArchiveFile& operator=(const ArchiveFile&) = delete;

  const std::string& path() const { return path_; }

  /// Differs where the archive does: its size and time.
  std::string version() const {
    struct stat status {};
    if (fstat(descriptor_, &status) != 0) return "";
    return fmt::format("{} {}.{:09}", status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
  }

  /// Up to the size of `bytes`; less than 0 if it fails, with errno.
  ssize_t read_at(std::uint64_t offset, std::span<char> bytes) const {
    CountedFileCall call(CountedFileCall::Kind::kRead);
    ssize_t n;
    do {
      n = pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    } while (n < 0 && errno == EINTR);
    if (n > 0) call.add(static_cast<std::size_t>(n));
    return n;
  }

 private:
  std::string path_;
  int descriptor_;
};

/// Members begin at multiples of it, and an archive ends with two blocks of zeros.
constexpr std::uint64_t kBlock = 512;

std::uint64_t content_size(archive_entry* entry) {
  return static_cast<std::uint64_t>(std::max<la_int64_t>(archive_entry_size(entry), 0));
}

/// The members of an archive, one after another, from a place on where one begins. For one thread.
class ArchiveStream {
 public:
  ArchiveStream(const ArchiveFile& file, std::uint64_t begin) : file_(file), at_(begin) {
    archive* const a = archive_.get();
    if (a == nullptr) throw std::bad_alloc();
    archive_read_support_format_tar(a);
    archive_read_support_filter_gzip(a);
    archive_read_support_filter_bzip2(a);
    archive_read_support_filter_xz(a);
    archive_read_support_filter_zstd(a);
    archive_read_support_filter_lz4(a);
    // A header that was lost looks like the end: so it is looked whether more follows. `cat a.tar b.tar` may, too.
    if (archive_read_set_option(a, "tar", "read_concatenated_archives", "1") != ARCHIVE_OK) fail();
    archive_read_set_read_callback(a, &ArchiveStream::read_more);
    archive_read_set_skip_callback(a, &ArchiveStream::skip);
    archive_read_set_callback_data(a, this);
    if (archive_read_open1(a) != ARCHIVE_OK) fail();
  }
  ArchiveStream(const ArchiveStream&) = delete;
  ArchiveStream& operator=(const ArchiveStream&) = delete;

  bool is_packed() const { return archive_filter_code(archive_.get(), 0) != ARCHIVE_FILTER_NONE; }

  /// The next member, which lives until the one behind it; null at the end. Throws InputError.
  archive_entry* next() {
    archive_entry* entry = nullptr;
    const int result = archive_read_next_header(archive_.get(), &entry);
    if (result == ARCHIVE_EOF) return nullptr;
    if (result != ARCHIVE_OK && result != ARCHIVE_WARN) fail();
    // Of a sparse file the archive has less than its size, so an end behind one looks like a cut.
    content_end_ =
        archive_entry_sparse_count(entry) > 0 ? 0 : position() + (content_size(entry) + kBlock - 1) / kBlock * kBlock;
    return entry;
  }

  /// Behind the last member: whether zeros follow it, as tar ends archives. Else this one was cut off between members.
  bool has_end() const { return position() >= content_end_ + kBlock; }

  /// Where the header of the member begins, in the text of the archive.
  std::uint64_t header_begin() const {
    return static_cast<std::uint64_t>(archive_read_header_position(archive_.get()));
  }

  /// The content of the member. Throws PictureFault.
  std::vector<std::uint8_t> read(archive_entry* entry, const std::string& title) {
    const std::uint64_t n_bytes = content_size(entry);
    check_file_size(title, n_bytes);
    std::vector<std::uint8_t> bytes;
    std::array<std::uint8_t, 1 << 16> piece;
    while (true) {  // as they come: a damaged header may promise anything
      const auto n = archive_read_data(archive_.get(), piece.data(), piece.size());
      if (n == 0) return bytes;
      if (n < 0) {
        throw_fault(FaultKind::kUnreadable, "{}: cannot be read: {}; make the archive again", title,
                    printable_line(error_text(), 200));
      }
      if (static_cast<std::uint64_t>(n) > n_bytes - bytes.size()) {  // holes of a sparse one, which cost it nothing
        throw_fault(FaultKind::kUnreadable,
                    "{}: cannot be read: it has more than the {} bytes that the archive says; make the archive again",
                    title, n_bytes);
      }
      bytes.insert(bytes.end(), piece.data(), piece.data() + n);
    }
  }

 private:
  static la_ssize_t read_more(archive* a, void* stream, const void** bytes) {
    auto& self = *static_cast<ArchiveStream*>(stream);
    const ssize_t n = self.file_.read_at(self.at_, self.buffer_);
    if (n < 0) {
      archive_set_error(a, errno, "%s", std::strerror(errno));
      return ARCHIVE_FATAL;
    }
    self.at_ += static_cast<std::uint64_t>(n);
    *bytes = self.buffer_.data();
    return n;
  }

  static la_int64_t skip(archive*, void* stream, la_int64_t n_bytes) {
    static_cast<ArchiveStream*>(stream)->at_ += static_cast<std::uint64_t>(n_bytes);
    return n_bytes;
  }

  /// In the text of the archive.
  std::uint64_t position() const { return static_cast<std::uint64_t>(archive_filter_bytes(archive_.get(), 0)); }

  const char* error_text() const {
    const char* const text = archive_error_string(archive_.get());
    return text == nullptr ? "it is damaged" : text;
  }
  [[noreturn]] void fail() const {
    throw_input_error("{}: cannot be read as a tar archive: {}; make it again", printable_line(file_.path(), 400),
                      printable_line(error_text(), 200));
  }

  const ArchiveFile& file_;
  std::uint64_t at_;
  std::uint64_t content_end_ = 0;
  std::vector<char> buffer_ = std::vector<char>(1 << 18);
  std::unique_ptr<archive, decltype(&archive_read_free)> archive_{archive_read_new(), &archive_read_free};
};

/// Members of a plain archive: each at its place.
class PlainTar : public PictureStore {
 public:
  PlainTar(std::unique_ptr<ArchiveFile> file, std::vector<std::uint64_t> places)
      : file_(std::move(file)), places_(std::move(places)) {}

  const std::string& file(std::size_t) const override { return file_->path(); }
  std::vector<std::uint8_t> read(std::size_t i, const std::string& title) const override {
    ArchiveStream stream(*file_, places_[i]);
    archive_entry* const entry = stream.next();
    if (entry == nullptr) throw_fault(FaultKind::kUnreadable, "{}: is not there any more", title);
    return stream.read(entry, title);
  }

 private:
  std::unique_ptr<ArchiveFile> file_;
  std::vector<std::uint64_t> places_;
};

/// Members of a packed archive. Threads that ask for pictures near each other find what others came across on their
/// way.
class PackedTar : public PictureStore {
 public:
  /// `places`: which member of the archive each picture is, rising.
  PackedTar(std::unique_ptr<ArchiveFile> file, std::vector<std::uint64_t> places)
      : file_(std::move(file)), places_(std::move(places)) {}

  const std::string& file(std::size_t) const override { return file_->path(); }
  std::vector<std::uint8_t> read(std::size_t i, const std::string& title) const override {
    const std::lock_guard lock(mutex_);
    if (const auto kept = passed_.find(i); kept != passed_.end()) {
      std::vector<std::uint8_t> bytes = std::move(kept->second);
      n_passed_bytes_ -= bytes.size();
      passed_.erase(kept);
      return bytes;
    }
    if (!stream_ || i < next_) start();
    while (true) {
      archive_entry* const entry = stream_->next();
      if (entry == nullptr) throw_fault(FaultKind::kUnreadable, "{}: is not there any more", title);
      if (next_member_++ != places_[next_]) continue;
      const std::size_t found = next_++;
      if (found == i) return stream_->read(entry, title);
      pass(found, entry);
    }
  }

 private:
  static constexpr std::size_t kMostPassedBytes = std::size_t{256} << 20;

  void start() const {
    stream_.emplace(*file_, 0);
    next_member_ = 0;
    next_ = 0;
    passed_.clear();
    n_passed_bytes_ = 0;
  }

  /// Keeps a picture that another thread is likely to ask for: one of the last before the one that is wanted.
  void pass(std::size_t i, archive_entry* entry) const {
    constexpr std::size_t kKept = 1024;
    if (content_size(entry) > kMostPassedBytes) return;
    try {
      std::vector<std::uint8_t> bytes = stream_->read(entry, printable_line(file_->path(), 400));
      n_passed_bytes_ += bytes.size();
      passed_[i] = std::move(bytes);
    } catch (const PictureFault&) {  // of this picture, and not of the one that is wanted
    }
    while (passed_.size() > kKept || n_passed_bytes_ > kMostPassedBytes) {
      n_passed_bytes_ -= passed_.begin()->second.size();
      passed_.erase(passed_.begin());
    }
  }

  std::unique_ptr<ArchiveFile> file_;
  std::vector<std::uint64_t> places_;
  mutable std::mutex mutex_;  // of what follows
  mutable std::optional<ArchiveStream> stream_;
  mutable std::uint64_t next_member_ = 0;
  mutable std::size_t next_ = 0;  // picture that the stream comes to next
  mutable std::map<std::size_t, std::vector<std::uint8_t>> passed_;
  mutable std::size_t n_passed_bytes_ = 0;
};

/// A name without what means the folder itself; empty: not wanted.
std::string_view plain_name(const char* name) {
  std::string_view plain = name == nullptr ? "" : name;
  while (plain.starts_with("./")) plain.remove_prefix(2);
  while (plain.starts_with('/')) plain.remove_prefix(1);
  const bool is_hidden = plain.starts_with('.') || plain.find("/.") != plain.npos;
  return is_hidden ? std::string_view() : plain;
}

std::shared_ptr<const PictureStore> make_store(std::unique_ptr<ArchiveFile> file, std::vector<std::uint64_t> places,
                                               bool is_packed) {
  if (is_packed) return std::make_shared<PackedTar>(std::move(file), std::move(places));
  return std::make_shared<PlainTar>(std::move(file), std::move(places));
}

/// "packed", the version of the archive and the places, each on a line.
std::string places_text(const ArchiveFile& file, std::span<const std::uint64_t> places, bool is_packed) {
  return fmt::format("{}\n{}\n{}", is_packed ? "packed" : "plain", file.version(), fmt::join(places, "\n"));
}

}  // namespace

bool is_tar_name(const std::string& path) {
  constexpr std::array<std::string_view, 11> kEndings = {
      ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tbz", ".tar.xz", ".txz", ".tar.zst", ".tzst", ".tar.lz4"};
  return std::ranges::any_of(kEndings, [&](std::string_view ending) { return path.ends_with(ending); });
}

TarPictures open_tar(const std::string& path) {
  auto file = std::make_unique<ArchiveFile>(path);
  TarPictures pictures;
  std::vector<std::uint64_t> places;
  std::unordered_map<std::string, std::size_t> known;
  std::vector<bool> is_replaced;
  bool is_packed = false;
  {
    ArchiveStream stream(*file, 0);
    is_packed = stream.is_packed();
    std::uint64_t member = 0;
    for (archive_entry* entry; (entry = stream.next()) != nullptr; ++member) {
      const std::string name(plain_name(archive_entry_pathname(entry)));
      if (name.empty() || archive_entry_filetype(entry) == AE_IFDIR) continue;
      const bool is_link = archive_entry_filetype(entry) == AE_IFLNK || archive_entry_hardlink(entry) != nullptr;
      const bool is_file = archive_entry_filetype(entry) == AE_IFREG;  // and no pipe or device
      if (!has_picture_name(name) || !(is_file || is_link)) {
        ++pictures.left_out.n_others;
        continue;
      }
      if (is_link) {
        throw_input_error(
            "{}: {} is a link, and links in archives are not followed; make the archive again with tar --dereference "
            "--hard-dereference",
            printable_line(path, 400), printable_line(name, 400));
      }
      const auto [before, is_new] = known.try_emplace(name, pictures.names.size());
      if (!is_new) is_replaced[std::exchange(before->second, pictures.names.size())] = true;
      pictures.names.push_back(name);
      places.push_back(is_packed ? member : stream.header_begin());
      is_replaced.push_back(false);
    }
    if (!stream.has_end()) {
      throw_input_error(
          "{}: does not end as tar archives do: it may be cut off, and pictures be missing; make it again",
          printable_line(path, 400));
    }
  }
  std::size_t n = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (is_replaced[i]) continue;
    pictures.names[n] = pictures.names[i];
    places[n++] = places[i];
  }
  pictures.left_out.n_replaced = places.size() - n;
  pictures.names.resize(n);
  places.resize(n);
  pictures.places = places_text(*file, places, is_packed);
  pictures.store = make_store(std::move(file), std::move(places), is_packed);
  return pictures;
}

std::shared_ptr<const PictureStore> reopen_tar(const std::string& path, const std::vector<std::string>& names,
                                               const std::string& places) {
  auto file = std::make_unique<ArchiveFile>(path);
  std::vector<std::uint64_t> found;
  for (const bool is_packed : {false, true}) {
    const std::string head = places_text(*file, {}, is_packed);
    if (!places.starts_with(head)) continue;
    std::string_view rest = std::string_view(places).substr(head.size());
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const auto place = parse_count(rest.substr(0, end));
      if (!place) return nullptr;
      found.push_back(*place);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (found.size() != names.size()) return nullptr;
    return make_store(std::move(file), std::move(found), is_packed);
  }
  return nullptr;
}

}  // namespace podere::image
