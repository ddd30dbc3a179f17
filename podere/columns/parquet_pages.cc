#include "podere/columns/parquet_pages.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "podere/columns/thrift.h"

namespace podere::columns {
namespace {

constexpr std::size_t kWindowBytes = std::size_t{1} << 18;
constexpr std::size_t kMostPageHeaderBytes = std::size_t{1} << 24;
constexpr std::int64_t kMostPageBytes = std::int64_t{1} << 30;
constexpr std::int64_t kMostPageValues = std::int64_t{1} << 26;
/// What a chunk may be longer than it says: some versions of parquet-mr forgot the header of the dictionary.
constexpr std::uint64_t kForgotten = 100;

enum class PageType { kData = 0, kIndex = 1, kDictionary = 2, kDataV2 = 3 };

std::uint32_t little_endian(std::span<const char> bytes) {
  std::uint32_t value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace

struct PageReader::Header {
  std::uint64_t offset = 0;
  std::size_t size = 0;  // of the header
  std::int64_t type = -1;
  std::int64_t unpacked_size = -1;
  std::int64_t packed_size = -1;
  std::optional<std::int64_t> checksum;
  std::int64_t n_values = -1;
  std::int64_t encoding = -1;
  std::int64_t level_encoding = static_cast<int>(Encoding::kRle);
  // Of kDataV2:
  std::int64_t n_missing = 0;
  std::int64_t definition_size = 0;
  std::int64_t repetition_size = 0;
  bool is_packed = true;
};

PageReader::PageReader(const io::ByteSource& source, const Chunk& chunk, const Meaning& meaning,
                       std::uint64_t file_size)
    : source_(source),
      chunk_(chunk),
      is_optional_(meaning.is_optional),
      next_(chunk.begin),
      end_(std::min(chunk.begin + chunk.size + kForgotten, file_size)) {}

std::span<const char> PageReader::bytes_at(std::uint64_t offset, std::size_t n) {
  const std::uint64_t window_end = window_begin_ + window_.size();
  if (offset < window_begin_ || offset + n > window_end) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(std::max(n, kWindowBytes), end_ - offset));
    window_.resize(size);
    window_begin_ = offset;
    window_.resize(source_.cursor_at(offset)->read(window_));
  }
  const std::size_t begin = static_cast<std::size_t>(offset - window_begin_);
  return std::span<const char>(window_).subspan(begin, std::min(n, window_.size() - begin));
}

PageReader::Header PageReader::read_header() {
  using ThriftType = ThriftReader::Type;
  for (std::size_t n = 1 << 12;; n *= 8) {
    const std::span<const char> bytes =
        bytes_at(next_, static_cast<std::size_t>(std::min<std::uint64_t>(n, end_ - next_)));
    Header header{.offset = next_};
    try {
      ThriftReader reader(bytes);
      const auto read_values = [&](auto&& take) {
        reader.read_struct([&](int id, ThriftType type) {
          if (id == 7 && header.type == static_cast<int>(PageType::kDataV2))
            header.is_packed = type == ThriftType::kTrue;
          if (!is_int(type)) return false;
          take(id, reader.read_int());
          return true;
        });
        return true;
      };
      reader.read_struct([&](int id, ThriftType type) {
        if (id == 5 || id == 7) {
          return read_values([&](int part, std::int64_t value) {
            if (part == 1) header.n_values = value;
            if (part == 2) header.encoding = value;
            if (part == 3 && id == 5) header.level_encoding = value;
          });
        }
        if (id == 8) {
          return read_values([&](int part, std::int64_t value) {
            if (part == 1) header.n_values = value;
            if (part == 2) header.n_missing = value;
            if (part == 4) header.encoding = value;
            if (part == 5) header.definition_size = value;
            if (part == 6) header.repetition_size = value;
          });
        }
        if (!is_int(type)) return false;
        const std::int64_t value = reader.read_int();
        if (id == 1) header.type = value;
        if (id == 2) header.unpacked_size = value;
        if (id == 3) header.packed_size = value;
        if (id == 4) header.checksum = value;
        return true;
      });
      header.size = reader.position();
    } catch (const ThriftFault& fault) {
      if (fault.at_end && bytes.size() == n && n < kMostPageHeaderBytes) continue;
      throw PageFault{next_, "no page begins there"};
    }
    const bool is_sound = header.packed_size >= 0 && header.unpacked_size >= 0 &&
                          header.unpacked_size <= kMostPageBytes &&
                          std::cmp_less_equal(header.packed_size, end_ - next_ - header.size);
    if (!is_sound) throw PageFault{next_, "the page is not as long as it says"};
    return header;
  }
}

std::optional<Page> PageReader::next(std::uint64_t first) {
  while (n_read_ < static_cast<std::uint64_t>(std::max<std::int64_t>(chunk_.n_values, 0))) {
    if (next_ >= end_) throw PageFault{next_, "the column ends too early"};
    const Header header = read_header();
    const std::uint64_t body = next_ + header.size;
    next_ = body + static_cast<std::uint64_t>(header.packed_size);
    const bool is_dictionary = header.type == static_cast<int>(PageType::kDictionary);
    const bool holds_values =
        header.type == static_cast<int>(PageType::kData) || header.type == static_cast<int>(PageType::kDataV2);
    if (!is_dictionary && !holds_values) continue;
    if (header.n_values < 0 || header.n_values > kMostPageValues) {
      throw PageFault{header.offset, "the page has no number of values, or more than 2^26"};
    }
    if (holds_values) {
      first_of_page_ = std::exchange(n_read_, n_read_ + static_cast<std::uint64_t>(header.n_values));
      if (n_read_ <= first) continue;
    }
    const auto stored = bytes_at(body, static_cast<std::size_t>(header.packed_size));
    if (std::cmp_not_equal(stored.size(), header.packed_size)) {
      throw PageFault{header.offset, "the file ends within the page"};
    }
    return unpack_page(header, stored, is_dictionary ? dictionary_ : unpacked_);
  }
  return std::nullopt;
}

Page PageReader::unpack_page(const Header& header, std::span<const char> stored, PageBytes& unpacked) {
  const auto fail = [&](const char* message) { throw PageFault{header.offset, message}; };
  if (header.checksum) {
    const auto sum = crc32_z(0, reinterpret_cast<const Bytef*>(stored.data()), stored.size());
    if (static_cast<std::uint32_t>(sum) != static_cast<std::uint32_t>(*header.checksum)) {
      fail("the page is not what was written: its checksum is another");
    }
  }
  Page page{.is_dictionary = header.type == static_cast<int>(PageType::kDictionary),
            .n_values = static_cast<std::size_t>(header.n_values),
            .encoding = static_cast<Encoding>(header.encoding),
            .levels_are_packed = header.level_encoding == static_cast<int>(Encoding::kBitPacked),
            .offset = header.offset};
  const bool is_v2 = header.type == static_cast<int>(PageType::kDataV2);
  std::size_t n_levels = 0;  // bytes that are never packed
  if (is_v2) {
    const std::int64_t definition = header.definition_size, repetition = header.repetition_size;
    if (definition < 0 || repetition != 0 || std::cmp_greater(definition, stored.size()) ||
        definition > header.unpacked_size) {
      fail("the page does not say where its values begin");
    }
    n_levels = static_cast<std::size_t>(definition);
  }
  const std::span<const char> packed = stored.subspan(n_levels);
  const auto size = static_cast<std::size_t>(header.unpacked_size) - n_levels;
  const std::span<char> values = unpacked.resized(size + n_levels);
  std::ranges::copy(stored.first(n_levels), values.begin());
  const Codec codec = is_v2 && !header.is_packed ? Codec::kNone : *chunk_.codec;
  if (size > 0 && !unpack(codec, packed, values.subspan(n_levels))) fail("the page cannot be unpacked");
  page.values = values.subspan(n_levels);
  if (page.is_dictionary || !is_optional_) return page;
  if (is_v2) {
    page.levels = values.first(n_levels);
    if (header.n_missing == 0) page.levels = {};
    return page;
  }
  if (page.levels_are_packed) {
    const std::size_t n_bytes = (page.n_values + 7) / 8;
    if (n_bytes > page.values.size()) fail("the page does not say which values are missing");
    page.levels = page.values.first(n_bytes);
    page.values = page.values.subspan(n_bytes);
    return page;
  }
  if (page.values.size() < 4 || little_endian(page.values) > page.values.size() - 4) {
    fail("the page does not say which values are missing");
  }
  page.levels = page.values.subspan(4, little_endian(page.values));
  page.values = page.values.subspan(4 + page.levels.size());
  return page;
}

}  // namespace podere::columns
