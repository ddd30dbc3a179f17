#include "podere/io/zip_archive.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/io/gzip.h"

namespace podere::io {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kEndBytes = 22;  // of the record at the end of an archive, without its comment
constexpr std::size_t kMostCommentBytes = 0xffff;
constexpr std::size_t kEnd64Bytes = 56, kLocator64Bytes = 20;
constexpr std::size_t kMemberBytes = 46, kLocalBytes = 30;
constexpr std::uint64_t kMostDirectoryBytes = std::uint64_t{1} << 26;
constexpr std::uint32_t kIn64 = 0xffffffff;  // the number stands where it has 64 bits
constexpr unsigned kStored = 0, kDeflated = 8;

/// A little-endian number of `n` bytes at a place that is there.
std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t n) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < n; ++i) number |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << 8 * i;
  return number;
}

[[noreturn]] void refuse_archive(const std::string& name) {
  throw_input_error("{}: the ZIP archive is damaged or cut short", name);
}

/// Bytes [begin, begin + n) of the file. Throws InputError if they are not there.
std::string read_range(const RawBytes& bytes, std::uint64_t begin, std::uint64_t n) {
  if (begin > bytes.size() || n > bytes.size() - begin) refuse_archive(bytes.name());
  std::string text(static_cast<std::size_t>(n), '\0');
  bytes.read_at(begin, text);
  return text;
}

/// Some bytes, with others before and behind.
class BytesBetween final : public RawBytes {
 public:
  BytesBetween(std::string name, std::shared_ptr<const RawBytes> bytes, std::uint64_t begin, std::uint64_t n,
               std::string before, std::string behind)
      : name_(std::move(name)),
        bytes_(std::move(bytes)),
        begin_(begin),
        n_(n),
        before_(std::move(before)),
        behind_(std::move(behind)) {}

  const std::string& name() const override { return name_; }
  std::uint64_t size() const override { return before_.size() + n_ + behind_.size(); }

  std::size_t read_at(std::uint64_t offset, std::span<char> to) const override {
    std::size_t done = 0;
    while (done < to.size() && offset < size()) {
      const std::size_t n = read_part(offset, to.subspan(done));
      done += n;
      offset += n;
    }
    return done;
  }

 private:
  /// Up to the end of one of the three parts.
  std::size_t read_part(std::uint64_t offset, std::span<char> to) const {
    const auto copy = [&](std::string_view part) {
      const std::size_t n = std::min(part.size(), to.size());
      std::memcpy(to.data(), part.data(), n);
      return n;
    };
    if (offset < before_.size()) return copy(std::string_view(before_).substr(static_cast<std::size_t>(offset)));
    offset -= before_.size();
    if (offset >= n_) return copy(std::string_view(behind_).substr(static_cast<std::size_t>(offset - n_)));
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(to.size(), n_ - offset));
    if (bytes_->read_at(begin_ + offset, to.first(n)) < n) refuse_archive(name_);
    return n;
  }

  std::string name_;
  std::shared_ptr<const RawBytes> bytes_;
  std::uint64_t begin_;
  std::uint64_t n_;
  std::string before_, behind_;
};

/// A little-endian number of 4 bytes.
std::string four_bytes(std::uint64_t number) {
  std::string bytes;
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(number >> 8 * i & 0xff);
  return bytes;
}

/// Takes those numbers of a member that have 64 bits from its extra fields.
void read_extra(std::string_view extra, ZipArchive::Member& member) {
  while (extra.size() >= 4) {
    const std::uint64_t id = number_at(extra, 0, 2), n = number_at(extra, 2, 2);
    if (n > extra.size() - 4) return;
    std::string_view field = extra.substr(4, static_cast<std::size_t>(n));
    extra.remove_prefix(static_cast<std::size_t>(4 + n));
    if (id != 1) continue;
    for (std::uint64_t* const number : {&member.n_bytes, &member.n_packed_bytes, &member.header_begin}) {
      if (*number != kIn64 || field.size() < 8) continue;
      *number = number_at(field, 0, 8);
      field.remove_prefix(8);
    }
  }
}

}  // namespace

ZipArchive::ZipArchive(std::unique_ptr<RawBytes> bytes) : bytes_(std::move(bytes)) {
  const std::uint64_t size = bytes_->size();
  const std::uint64_t tail_bytes = std::min<std::uint64_t>(size, kEndBytes + kMostCommentBytes);
  const std::string tail = read_range(*bytes_, size - tail_bytes, tail_bytes);
  const std::size_t end = tail.rfind("PK\x05\x06");
  if (end == std::string::npos || tail.size() - end < kEndBytes) refuse_archive(name());
  std::uint64_t n_members = number_at(tail, end + 10, 2);
  std::uint64_t n_bytes = number_at(tail, end + 12, 4);
  std::uint64_t begin = number_at(tail, end + 16, 4);
  if (begin == kIn64 || n_bytes == kIn64 || n_members == 0xffff) {
    const std::uint64_t end_begin = size - tail_bytes + end;
    if (end_begin < kLocator64Bytes) refuse_archive(name());
    const std::string locator = read_range(*bytes_, end_begin - kLocator64Bytes, kLocator64Bytes);
    if (!locator.starts_with("PK\x06\x07")) refuse_archive(name());
    const std::string end64 = read_range(*bytes_, number_at(locator, 8, 8), kEnd64Bytes);
    if (!end64.starts_with("PK\x06\x06")) refuse_archive(name());
    n_members = number_at(end64, 32, 8);
    n_bytes = number_at(end64, 40, 8);
    begin = number_at(end64, 48, 8);
  }
  read_directory(begin, n_bytes, n_members);
}

void ZipArchive::read_directory(std::uint64_t begin, std::uint64_t n_bytes, std::uint64_t n_members) {
  if (n_bytes > kMostDirectoryBytes) refuse_archive(name());
  const std::string text = read_range(*bytes_, begin, n_bytes);
  std::string_view rest = text;
  for (std::uint64_t i = 0; i < n_members; ++i) {
    if (rest.size() < kMemberBytes || !rest.starts_with("PK\x01\x02")) refuse_archive(name());
    Member member{.n_bytes = number_at(rest, 24, 4),
                  .n_packed_bytes = number_at(rest, 20, 4),
                  .header_begin = number_at(rest, 42, 4),
                  .crc = static_cast<std::uint32_t>(number_at(rest, 16, 4)),
                  .method = static_cast<unsigned>(number_at(rest, 10, 2)),
                  .is_encrypted = (number_at(rest, 8, 2) & 1) != 0};
    const auto name_bytes = static_cast<std::size_t>(number_at(rest, 28, 2));
    const auto extra_bytes = static_cast<std::size_t>(number_at(rest, 30, 2));
    const auto comment_bytes = static_cast<std::size_t>(number_at(rest, 32, 2));
    rest.remove_prefix(kMemberBytes);
    if (rest.size() < name_bytes + extra_bytes + comment_bytes) refuse_archive(name());
    member.name = rest.substr(0, name_bytes);
    read_extra(rest.substr(name_bytes, extra_bytes), member);
    rest.remove_prefix(name_bytes + extra_bytes + comment_bytes);
    members_.push_back(std::move(member));
  }
}

std::unique_ptr<ByteSource> ZipArchive::open(const Member& member) const {
  const std::string shown = name() + ": " + printable_line(member.name, 100);
  if (member.is_encrypted) throw_input_error("{}: is encrypted: unpack it first", shown);
  if (member.method != kStored && member.method != kDeflated) {
    throw_input_error("{}: is packed by method {} of ZIP, allowed is deflate (8)", shown, member.method);
  }
  const std::string local = read_range(*bytes_, member.header_begin, kLocalBytes);
  if (!local.starts_with("PK\x03\x04")) refuse_archive(shown);
  const std::uint64_t begin = member.header_begin + kLocalBytes + number_at(local, 26, 2) + number_at(local, 28, 2);
  const std::uint64_t size = bytes_->size();
  if (begin > size || member.n_packed_bytes > size - begin) refuse_archive(shown);
  if (member.method == kStored) {
    if (member.n_bytes != member.n_packed_bytes) refuse_archive(shown);
    return as_stored(std::make_unique<BytesBetween>(shown, bytes_, begin, member.n_bytes, "", ""));
  }
  // Gzip packs by deflate too: between these ten bytes, and the checksum with the size (RFC 1952).
  const std::string before("\x1f\x8b\x08\0\0\0\0\0\0\xff"sv);
  return std::make_unique<GzipSource>(std::make_unique<BytesBetween>(
      shown, bytes_, begin, member.n_packed_bytes, before, four_bytes(member.crc) + four_bytes(member.n_bytes)));
}

bool begins_as_zip(const std::string& location) {
  std::array<char, 4> bytes{};
  const std::string_view begin(bytes.data(), open_raw(location)->read_at(0, bytes));
  return begin == "PK\x03\x04" || begin == "PK\x05\x06";
}

}  // namespace podere::io
