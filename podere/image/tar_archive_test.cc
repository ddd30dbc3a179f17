#include "podere/image/tar_archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/temporary_folder.h"

namespace podere::image {
namespace {

constexpr std::size_t kBlock = 512;

struct Hole {
  std::uint64_t begin_of_content;
  std::uint64_t n_bytes;
};

/// 11 octal digits, or where they are too few the number itself behind a mark.
std::string tar_number(std::uint64_t value) {
  if (value < std::uint64_t{1} << 33) return fmt::format("{:011o}", value) + '\0';
  std::string bytes(12, '\0');
  bytes[0] = '\x80';
  for (std::size_t i = 11; i > 3; --i, value >>= 8) bytes[i] = static_cast<char>(value & 0xff);
  return bytes;
}

std::string with_checksum(std::string header) {
  std::fill_n(header.begin() + 148, 8, ' ');
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  std::ranges::copy(fmt::format("{:06o}", sum) + '\0', header.begin() + 148);
  return header;
}

/// The header of a sparse file as GNU tar writes it: `n_stored` bytes lie behind it, and `n_real` are in the file.
std::string sparse_header(const std::string& name, std::uint64_t n_stored, std::uint64_t n_real, Hole hole) {
  std::string header(kBlock, '\0');
  const auto put = [&](std::size_t at, std::string_view text) { std::ranges::copy(text, header.begin() + at); };
  put(0, name);
  put(100, "0000644");
  put(124, tar_number(n_stored));
  put(136, tar_number(0));
  put(156, "S");
  put(257, "ustar  ");
  put(386, tar_number(hole.begin_of_content));
  put(398, tar_number(hole.n_bytes));
  put(483, tar_number(n_real));
  return with_checksum(std::move(header));
}

/// A plain file, as tar writes it.
std::string file_in_tar(const std::string& name, const std::string& content) {
  std::string header = sparse_header(name, content.size(), content.size(), {});
  header[156] = '0';
  std::fill(header.begin() + 386, header.end(), '\0');
  return with_checksum(std::move(header)) + content + std::string((kBlock - content.size() % kBlock) % kBlock, '\0');
}

class TarArchiveTest : public testing::Test {
 protected:
  /// Of one sparse picture with 512 bytes at `begin`, which says that it has `n_real`.
  TarPictures open_sparse(std::uint64_t begin, std::uint64_t n_real) const {
    return open(sparse_header("a.png", kBlock, n_real, {begin, kBlock}) + std::string(kBlock, 'x'), false);
  }

  TarPictures open(const std::string& members, bool is_packed) const {
    const std::string path = folder_.path() / "a.tar";
    const std::string bytes = members + std::string(2 * kBlock, '\0');
    const std::unique_ptr<archive, decltype(&archive_write_free)> out(archive_write_new(), &archive_write_free);
    const std::unique_ptr<archive_entry, decltype(&archive_entry_free)> entry(archive_entry_new(), &archive_entry_free);
    archive_write_set_format_raw(out.get());
    if (is_packed) archive_write_add_filter_gzip(out.get());
    archive_write_open_filename(out.get(), path.c_str());
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_write_header(out.get(), entry.get());
    archive_write_data(out.get(), bytes.data(), bytes.size());
    archive_write_close(out.get());
    return open_tar(path);
  }

  const TemporaryFolder folder_{std::filesystem::temp_directory_path()};
};

TEST_F(TarArchiveTest, ASparsePictureHasZerosInItsHoles) {
  const TarPictures pictures = open_sparse(3 * kBlock, 4 * kBlock);
  ASSERT_EQ(pictures.names, std::vector<std::string>{"a.png"});
  const std::vector<std::uint8_t> bytes = pictures.store->read(0, "a.png");
  ASSERT_EQ(bytes.size(), 4 * kBlock);
  EXPECT_EQ(std::ranges::count(bytes, 0), 3 * kBlock);
  EXPECT_EQ(std::ranges::count(bytes, 'x'), kBlock);
}

TEST_F(TarArchiveTest, HolesBeyondTheSizeOfASparsePictureAreNotMade) {
  for (const std::uint64_t begin : {4 * std::uint64_t{kBlock}, std::uint64_t{1} << 43}) {
    const TarPictures pictures = open_sparse(begin, 100);
    try {
      pictures.store->read(0, "a.png");
      FAIL() << begin;
    } catch (const PictureFault& fault) {
      EXPECT_EQ(fault.kind(), FaultKind::kUnreadable);
      EXPECT_STREQ(
          fault.what(),
          "a.png: cannot be read: it has more than the 100 bytes that the archive says; make the archive again");
    }
  }
}

TEST_F(TarArchiveTest, ADamagedPictureCostsNoOtherOfAPackedArchive) {
  const std::string content(1000, 'b');
  const TarPictures pictures = open(
      sparse_header("a.png", kBlock, 100, {1 << 20, kBlock}) + std::string(kBlock, 'x') + file_in_tar("b.png", content),
      true);
  ASSERT_EQ(pictures.names, (std::vector<std::string>{"a.png", "b.png"}));
  EXPECT_EQ(pictures.store->read(1, "b.png"), std::vector<std::uint8_t>(content.begin(), content.end()));
  EXPECT_THROW(pictures.store->read(0, "a.png"), PictureFault);
  EXPECT_EQ(pictures.store->read(1, "b.png").size(), content.size());
}

TEST_F(TarArchiveTest, ASparsePictureThatSaysToBeTooLargeIsNotRead) {
  const TarPictures pictures = open_sparse(kMostFileBytes, kMostFileBytes + kBlock);
  try {
    pictures.store->read(0, "a.png");
    FAIL();
  } catch (const PictureFault& fault) {
    EXPECT_EQ(fault.kind(), FaultKind::kTooLarge);
  }
}

}  // namespace
}  // namespace podere::image
