// The pages of a column of a Parquet file, one after another. Source: Apache Parquet format 2.10.0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "podere/columns/parquet_footer.h"
#include "podere/io/byte_source.h"

namespace podere::columns {

/// What is wrong with a page, and where it begins in the file.
struct PageFault {
  std::uint64_t offset;
  std::string message;
};

enum class Encoding {
  kPlain = 0,
  kPlainDictionary = 2,
  kRle = 3,
  kBitPacked = 4,
  kDeltaBinaryPacked = 5,
  kDeltaLengthBytes = 6,
  kDeltaBytes = 7,
  kRleDictionary = 8,
  kByteStreamSplit = 9
};

struct Page {
  bool is_dictionary = false;
  std::size_t n_values = 0;  ///< with those that are missing
  Encoding encoding = Encoding::kPlain;
  std::span<const char> levels;    ///< which values are there; empty: all of them
  bool levels_are_packed = false;  ///< by kBitPacked, not kRle
  std::span<const char> values;    ///< encoded
  std::uint64_t offset = 0;        ///< in the file
};

/// Bytes that are not set at first.
class PageBytes {
 public:
  std::span<char> resized(std::size_t n) {
    if (n > capacity_) bytes_ = std::make_unique_for_overwrite<char[]>(capacity_ = n);
    return {bytes_.get(), n};
  }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t capacity_ = 0;
};

/// Goes through the pages of a chunk, which it borrows. For one thread. Throws PageFault.
class PageReader {
 public:
  PageReader(const io::ByteSource& source, const Chunk& chunk, const Meaning& meaning, std::uint64_t file_size);

  /// The next page of values or of a dictionary, whose bytes live until the next call; those of dictionaries as long as
  /// this. Pages of which all values are before number `first` of the chunk are read over. Nothing behind the last.
  std::optional<Page> next(std::uint64_t first);
  /// Values of the chunk before the page that next() gave last.
  std::uint64_t first_of_page() const { return first_of_page_; }

 private:
  struct Header;
  Header read_header();
  std::span<const char> bytes_at(std::uint64_t offset, std::size_t n);
  Page unpack_page(const Header& header, std::span<const char> stored, PageBytes& unpacked);

  const io::ByteSource& source_;
  const Chunk& chunk_;
  bool is_optional_;
  std::uint64_t next_;  // where the next page begins
  std::uint64_t end_;   // of the chunk
  std::uint64_t first_of_page_ = 0;
  std::uint64_t n_read_ = 0;  // values of the pages so far
  // A piece of the file:
  std::vector<char> window_;
  std::uint64_t window_begin_ = 0;
  PageBytes unpacked_, dictionary_;
};

}  // namespace podere::columns
