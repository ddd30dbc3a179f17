#include "podere/io/packed.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/printable.h"

namespace podere::io {
namespace {

constexpr std::size_t kPackedBlockBytes = 1 << 16;

/// Files that are not there for their own sake.
bool is_beside_the_point(std::string_view member) { return member.starts_with("__MACOSX/") || member.ends_with('/'); }

}  // namespace

/// Unpacks from where it stands.
class Unpacker : public ByteCursor {
 public:
  explicit Unpacker(const RawBytes& packed) : packed_(packed) {
    open();
    if (is_zip()) check_members();
    go_to_file();
  }

  std::uint64_t position() const { return position_; }

  std::size_t read(std::span<char> bytes) override {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const la_ssize_t n = archive_read_data(reader_.get(), bytes.data() + done, bytes.size() - done);
      if (n < 0) refuse();
      if (n == 0) break;
      done += static_cast<std::size_t>(n);
    }
    position_ += done;
    constexpr std::uint64_t kAlways = std::uint64_t{1} << 30;
    if (position_ > std::max(kAlways, PackedSource::kMostGrowth * packed_.size())) {
      throw_input_error("{}: unpacks to more than {} times its {} bytes; if it is meant to, unpack it first", name(),
                        PackedSource::kMostGrowth, packed_.size());
    }
    return done;
  }

 private:
  const std::string& name() const { return packed_.name(); }

  /// Begins anew, at the first file.
  void open() {
    reader_.reset(archive_read_new());
    if (!reader_) throw std::bad_alloc();
    next_ = 0;
    archive* const reader = reader_.get();
    for (const auto add :
         {archive_read_support_filter_bzip2, archive_read_support_filter_xz, archive_read_support_filter_lzma,
          archive_read_support_filter_zstd, archive_read_support_filter_lz4, archive_read_support_filter_lzip,
          archive_read_support_format_raw, archive_read_support_format_tar, archive_read_support_format_zip}) {
      add(reader);
    }
    archive_read_set_callback_data(reader, this);
    archive_read_set_read_callback(reader, read_packed);
    archive_read_set_seek_callback(reader, seek_packed);
    if (archive_read_open1(reader) != ARCHIVE_OK) refuse();
    if (!next_file()) throw_input_error("{}: is an archive without files", name());
  }

  /// False if there is none. Throws InputError.
  bool next_file() {
    const int result = archive_read_next_header(reader_.get(), &file_);
    if (result == ARCHIVE_EOF) return false;
    if (result != ARCHIVE_OK && result != ARCHIVE_WARN) refuse();
    return true;
  }

  bool is_zip() const { return (archive_format(reader_.get()) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_ZIP; }

  std::string member() const {
    const char* const path = archive_entry_pathname(file_);
    return path == nullptr ? "" : path;
  }

  /// Throws InputError unless the ZIP archive has one file, which can be read.
  void check_members() {
    std::vector<std::string> members;
    do {
      if (is_beside_the_point(member())) continue;
      members.push_back(member());
      if (archive_entry_is_encrypted(file_) == 1) {
        throw_input_error("{}: {} in it is encrypted: unpack it first", name(), printable(member()));
      }
    } while (next_file());
    const auto any_of = [&](auto&& is_it) { return std::ranges::any_of(members, is_it); };
    if (any_of([](const std::string& file) { return file.starts_with("xl/"); })) {
      throw_input_error(
          "{}: is an Excel file: save it as CSV, as pandas does: pandas.read_excel(FILE).to_csv(CSV, "
          "index=False)",
          name());
    }
    if (any_of([](const std::string& file) { return file == "content.xml"; })) {
      throw_input_error(
          "{}: is an OpenDocument file: save it as CSV, as pandas does: pandas.read_excel(FILE).to_csv(CSV, "
          "index=False)",
          name());
    }
    if (any_of([](const std::string& file) { return file.ends_with(".npy"); })) {
      throw_input_error("{}: is an archive of NumPy arrays: read with --format npz", name());
    }
    if (members.size() != 1) {
      throw_input_error("{}: is a ZIP archive of {} files, allowed is one: {}; unpack it and give one of them", name(),
                        members.size(), printable_list(members));
    }
    open();
  }

  /// To the one file.
  void go_to_file() {
    const int format = archive_format(reader_.get()) & ARCHIVE_FORMAT_BASE_MASK;
    if (format == ARCHIVE_FORMAT_TAR) {
      throw_input_error("{}: is a tar archive packed with {}: unpack it and give one of its files", name(),
                        archive_filter_name(reader_.get(), 0));
    }
    if (format == ARCHIVE_FORMAT_RAW && archive_filter_code(reader_.get(), 0) == ARCHIVE_FILTER_NONE) refuse();
    while (format == ARCHIVE_FORMAT_ZIP && is_beside_the_point(member())) next_file();
  }

  static la_ssize_t read_packed(archive* reader, void* data, const void** block) {
    Unpacker& self = *static_cast<Unpacker*>(data);
    try {
      const std::size_t n = self.packed_.read_at(self.next_, self.buffer_);
      self.next_ += n;
      *block = self.buffer_.data();
      return static_cast<la_ssize_t>(n);
    } catch (...) {
      self.failure_ = std::current_exception();
      archive_set_error(reader, EIO, "it cannot be read");
      return -1;
    }
  }

  static la_int64_t seek_packed(archive*, void* data, la_int64_t offset, int whence) {
    Unpacker& self = *static_cast<Unpacker*>(data);
    const std::uint64_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? self.next_ : self.packed_.size();
    self.next_ = from + static_cast<std::uint64_t>(offset);
    return static_cast<la_int64_t>(self.next_);
  }

  [[noreturn]] void refuse() {
    if (failure_) std::rethrow_exception(failure_);
    if (archive_errno(reader_.get()) == ENOMEM) throw std::bad_alloc();
    const char* const why = archive_error_string(reader_.get());
    throw_input_error("{}: the packed data are damaged or cut short: {}", name(), why == nullptr ? "bad data" : why);
  }

  struct FreeArchive {
    void operator()(archive* reader) const { archive_read_free(reader); }
  };

  const RawBytes& packed_;
  std::uint64_t next_ = 0;  // in what is packed, that libarchive reads
  std::vector<char> buffer_ = std::vector<char>(kPackedBlockBytes);
  std::exception_ptr failure_;
  std::unique_ptr<archive, FreeArchive> reader_;
  archive_entry* file_ = nullptr;
  std::uint64_t position_ = 0;  // in what is unpacked
};

class PackedSource::Cursor : public ByteCursor {
 public:
  Cursor(const PackedSource& source, std::unique_ptr<Unpacker> unpacker)
      : source_(source), unpacker_(std::move(unpacker)) {}
  ~Cursor() override {
    const std::lock_guard lock(source_.mutex_);
    source_.stopped_ = std::move(unpacker_);
  }
  std::size_t read(std::span<char> bytes) override { return unpacker_->read(bytes); }

 private:
  const PackedSource& source_;
  std::unique_ptr<Unpacker> unpacker_;
};

PackedSource::PackedSource(std::unique_ptr<RawBytes> packed) : packed_(std::move(packed)) {}
PackedSource::~PackedSource() = default;

std::unique_ptr<ByteCursor> PackedSource::cursor_at(std::uint64_t offset) const {
  std::unique_ptr<Unpacker> unpacker;
  {
    const std::lock_guard lock(mutex_);
    if (stopped_ && stopped_->position() <= offset) unpacker = std::move(stopped_);
  }
  if (!unpacker) unpacker = std::make_unique<Unpacker>(*packed_);
  skip_bytes(*unpacker, offset - unpacker->position());
  return std::make_unique<Cursor>(*this, std::move(unpacker));
}

}  // namespace podere::io
