#include "podere/columns/parquet_values.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>

namespace podere::columns {
namespace {

/// Takes whole numbers from the front of bytes. Nothing, or false, where they end.
class ByteReader {
 public:
  explicit ByteReader(std::span<const char> bytes) : rest_(bytes) {}

  std::span<const char> rest() const { return rest_; }

  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(rest_.size(), 10); ++i) {
      const auto byte = static_cast<std::uint8_t>(rest_[i]);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
      if ((byte & 0x80) != 0) continue;
      rest_ = rest_.subspan(i + 1);
      return value;
    }
    return std::nullopt;
  }

  std::optional<std::span<const char>> take(std::uint64_t n) {
    if (n > rest_.size()) return std::nullopt;
    const auto taken = rest_.first(static_cast<std::size_t>(n));
    rest_ = rest_.subspan(static_cast<std::size_t>(n));
    return taken;
  }

 private:
  std::span<const char> rest_;
};

std::int64_t from_zigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

/// Sets numbers of `width` bits that are packed from the lowest bit of the first byte on, of bytes that hold them.
template <typename Number>
void unpack_bits(std::span<const char> bytes, int width, std::span<Number> to) {
  if (width == 0) {
    std::ranges::fill(to, Number{0});
    return;
  }
  const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  std::size_t bit = 0;
  std::size_t i = 0;
  // Eight bytes hold a number wherever it begins in the first of them.
  const std::size_t n_quick = width <= 57 && bytes.size() >= 8
                                  ? std::min(to.size(), (bytes.size() - 8) * 8 / static_cast<std::size_t>(width) + 1)
                                  : 0;
  for (; i < n_quick; ++i, bit += static_cast<std::size_t>(width)) {
    std::uint64_t window;
    std::memcpy(&window, bytes.data() + bit / 8, sizeof window);
    to[i] = static_cast<Number>(window >> (bit % 8) & mask);
  }
  for (; i < to.size(); ++i, bit += static_cast<std::size_t>(width)) {
    unsigned __int128 window = 0;
    const std::size_t first = bit / 8;
    std::memcpy(&window, bytes.data() + first, std::min<std::size_t>(sizeof window, bytes.size() - first));
    to[i] = static_cast<Number>(static_cast<std::uint64_t>(window >> (bit % 8)) & mask);
  }
}

/// Reads whole numbers that are written as their differences, as many as they say they are.
class DeltaReader {
 public:
  explicit DeltaReader(std::span<const char> bytes) : bytes_(bytes) {}

  /// All of them, but no more than `most`. Nothing if they are damaged.
  std::optional<std::vector<std::int64_t>> read(std::size_t most) {
    const auto block = bytes_.varint(), n_small = bytes_.varint(), n = bytes_.varint(), first = bytes_.varint();
    constexpr std::uint64_t kMostBlock = 1 << 20;
    if (!first || *n_small == 0 || *block == 0 || *block > kMostBlock || *block % *n_small != 0) return std::nullopt;
    const std::size_t small = static_cast<std::size_t>(*block / *n_small);
    if (small % 8 != 0 || *n > most) return std::nullopt;
    std::vector<std::int64_t> values;
    if (*n == 0) return values;
    auto last = static_cast<std::uint64_t>(from_zigzag(*first));
    values.push_back(static_cast<std::int64_t>(last));
    std::vector<std::uint64_t> differences(small);
    while (values.size() < *n) {
      const auto least = bytes_.varint();
      if (!least) return std::nullopt;
      const auto widths = bytes_.take(*n_small);
      if (!widths) return std::nullopt;
      for (std::size_t i = 0; i < widths->size() && values.size() < *n; ++i) {
        const int width = static_cast<std::uint8_t>((*widths)[i]);
        if (width > 64) return std::nullopt;
        const std::size_t wanted = std::min<std::size_t>(small, static_cast<std::size_t>(*n) - values.size());
        // The last may be cut off behind its last value.
        const std::size_t all = small / 8 * static_cast<std::size_t>(width);
        const auto packed = bytes_.take(std::min(all, bytes_.rest().size()));
        if (packed->size() < (wanted * static_cast<std::size_t>(width) + 7) / 8) return std::nullopt;
        unpack_bits(*packed, width, std::span(differences).first(wanted));
        for (std::size_t j = 0; j < wanted; ++j) {
          last += differences[j] + static_cast<std::uint64_t>(from_zigzag(*least));
          values.push_back(static_cast<std::int64_t>(last));
        }
      }
    }
    return values;
  }

  std::span<const char> rest() const { return bytes_.rest(); }

 private:
  ByteReader bytes_;
};

[[noreturn]] void fail(const Page& page, const char* message) { throw PageFault{page.offset, message}; }

constexpr const char* kUnknownEncoding = "the page is encoded in an unknown way";

[[noreturn]] void fail_values(const Page& page) { fail(page, "the page does not have the values that it says"); }

/// Differences of lengths, then the bytes of all strings.
std::vector<std::string_view> read_delta_lengths(const Page& page, std::span<const char> bytes, std::size_t n) {
  DeltaReader reader(bytes);
  const auto lengths = reader.read(page.n_values);
  if (!lengths || lengths->size() < n) fail_values(page);
  ByteReader rest(reader.rest());
  std::vector<std::string_view> texts;
  for (std::size_t i = 0; i < n; ++i) {
    const auto text = (*lengths)[i] < 0 ? std::nullopt : rest.take(static_cast<std::uint64_t>((*lengths)[i]));
    if (!text) fail_values(page);
    texts.emplace_back(text->data(), text->size());
  }
  return texts;
}

/// Each string begins as the one before; `bytes` will hold them.
std::vector<std::string_view> read_delta_strings(const Page& page, std::size_t n, std::string& bytes) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;
  DeltaReader reader(page.values);
  const auto prefixes = reader.read(page.n_values);
  if (!prefixes || prefixes->size() < n) fail_values(page);
  const std::vector<std::string_view> ends = read_delta_lengths(page, reader.rest(), n);
  std::vector<std::size_t> begins;
  bytes.clear();
  std::size_t before = 0;  // length of the last
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t prefix = (*prefixes)[i];
    if (prefix < 0 || std::cmp_greater(prefix, before) || bytes.size() + before > kMostBytes) fail_values(page);
    const std::size_t last = bytes.size() - before;
    begins.push_back(bytes.size());
    bytes.reserve(bytes.size() + static_cast<std::size_t>(prefix) + ends[i].size());
    bytes.append(bytes, last, static_cast<std::size_t>(prefix));
    bytes += ends[i];
    before = bytes.size() - begins.back();
  }
  begins.push_back(bytes.size());
  std::vector<std::string_view> texts;
  for (std::size_t i = 0; i < n; ++i) texts.emplace_back(bytes.data() + begins[i], begins[i + 1] - begins[i]);
  return texts;
}

std::vector<std::string_view> read_plain_strings(const Page& page, std::size_t n) {
  ByteReader rest(page.values);
  std::vector<std::string_view> texts;
  texts.reserve(std::min(n, page.values.size()));
  for (std::size_t i = 0; i < n; ++i) {
    const auto length = rest.take(4);
    std::uint32_t size = 0;
    if (length) std::memcpy(&size, length->data(), sizeof size);
    const auto text = length ? rest.take(size) : std::nullopt;
    if (!text) fail_values(page);
    texts.emplace_back(text->data(), text->size());
  }
  return texts;
}

/// First the first byte of each value, then the second of each, ...; `to` [n x size].
void join_streams(const Page& page, std::size_t n, std::size_t size, char* to) {
  if (n > 0 && page.values.size() / n < size) fail_values(page);
  const std::size_t stride = page.values.size() / size;  // there may be more values than are asked for
  for (std::size_t byte = 0; byte < size; ++byte) {
    for (std::size_t i = 0; i < n; ++i) to[i * size + byte] = page.values[byte * stride + i];
  }
}

}  // namespace

bool read_runs(std::span<const char> bytes, int width, std::span<std::uint32_t> to) {
  ByteReader reader(bytes);
  while (!to.empty()) {
    const auto header = reader.varint();
    if (!header) return false;
    const std::uint64_t count = *header >> 1;
    if ((*header & 1) != 0) {
      // The last groups of eight may be cut off behind their last number.
      const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(count, to.size() / 8 + 1) * 8);
      const std::size_t n = std::min(wanted, to.size());
      const auto most = static_cast<std::uint64_t>(reader.rest().size());
      const std::uint64_t all = width == 0 ? 0 : std::min(count, most) * static_cast<std::uint64_t>(width);
      const auto packed = reader.take(std::min(all, most));
      if (packed->size() < (n * static_cast<std::size_t>(width) + 7) / 8) return false;
      unpack_bits(*packed, width, to.first(n));
      to = to.subspan(n);
      continue;
    }
    const auto value = reader.take(static_cast<std::uint64_t>(width + 7) / 8);
    if (!value) return false;
    std::uint32_t number = 0;
    std::memcpy(&number, value->data(), value->size());
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(count, to.size()));
    std::ranges::fill(to.first(n), number);
    to = to.subspan(n);
  }
  return true;
}

std::size_t read_levels(const Page& page, std::span<std::uint32_t> levels) {
  if (page.levels_are_packed) {  // from the highest bit on
    for (std::size_t i = 0; i < levels.size(); ++i) levels[i] = page.levels[i / 8] >> (7 - i % 8) & 1;
  } else if (!read_runs(page.levels, 1, levels)) {
    fail(page, "the page does not say which values are missing");
  }
  std::size_t n = 0;
  for (const std::uint32_t level : levels) {
    if (level > 1) fail(page, "the page does not say which values are missing");
    n += level;
  }
  return n;
}

void read_places(const Page& page, std::size_t dictionary_size, std::span<std::uint32_t> places) {
  if (places.empty()) return;
  const int width = page.values.empty() ? -1 : static_cast<std::uint8_t>(page.values[0]);
  if (width < 0 || width > 32 || !read_runs(page.values.subspan(1), width, places)) fail_values(page);
  if (*std::ranges::max_element(places) >= dictionary_size) {
    fail(page, "the page has values that are not in the dictionary of its column");
  }
}

template <typename Value>
std::span<const Value> PageValues<Value>::decode(const Page& page, std::size_t n) {
  const auto is = [&](Encoding encoding) { return page.encoding == encoding; };
  constexpr bool kIsWhole = std::is_same_v<Value, std::int32_t> || std::is_same_v<Value, std::int64_t>;
  const bool is_plain = is(Encoding::kPlain) || (page.is_dictionary && is(Encoding::kPlainDictionary));
  if constexpr (std::is_same_v<Value, std::string_view>) {
    if (meaning_.physical == Physical::kFixedBytes && (is_plain || is(Encoding::kByteStreamSplit))) {
      if (page.values.size() / meaning_.size < n) fail_values(page);
      const char* begin = page.values.data();
      if (!is_plain) {
        bytes_.resize(n * meaning_.size);
        join_streams(page, n, meaning_.size, bytes_.data());
        begin = bytes_.data();
      }
      values_.clear();
      for (std::size_t i = 0; i < n; ++i) values_.emplace_back(begin + i * meaning_.size, meaning_.size);
    } else if (is_plain) {
      values_ = read_plain_strings(page, n);
    } else if (is(Encoding::kDeltaLengthBytes)) {
      values_ = read_delta_lengths(page, page.values, n);
    } else if (is(Encoding::kDeltaBytes)) {
      values_ = read_delta_strings(page, n, bytes_);
    } else {
      fail(page, kUnknownEncoding);
    }
    for (const std::string_view text : values_) {
      if (meaning_.physical == Physical::kFixedBytes && text.size() != meaning_.size) fail_values(page);
    }
    return values_;
  } else if constexpr (std::is_same_v<Value, std::uint8_t>) {  // booleans, a bit each
    if (!is_plain && !is(Encoding::kRle)) fail(page, kUnknownEncoding);
    if (page.values.size() < (is_plain ? (n + 7) / 8 : 4)) fail_values(page);
    values_.resize(n);
    if (is_plain) {
      unpack_bits(page.values, 1, std::span(values_));
      return values_;
    }
    std::vector<std::uint32_t> bits(n);
    if (!read_runs(page.values.subspan(4), 1, bits)) fail_values(page);
    for (std::size_t i = 0; i < n; ++i) values_[i] = bits[i] != 0;
    return values_;
  } else {
    if (is_plain) {
      if (page.values.size() / sizeof(Value) < n) fail_values(page);
      values_.resize(n);
      if (n > 0) std::memcpy(values_.data(), page.values.data(), n * sizeof(Value));
    } else if (is(Encoding::kByteStreamSplit)) {
      if (page.values.size() / sizeof(Value) < n) fail_values(page);
      values_.resize(n);
      join_streams(page, n, sizeof(Value), reinterpret_cast<char*>(values_.data()));
    } else {
      if constexpr (kIsWhole) {
        if (!is(Encoding::kDeltaBinaryPacked)) fail(page, kUnknownEncoding);
        const auto wide = DeltaReader(page.values).read(page.n_values);
        if (!wide || wide->size() < n) fail_values(page);
        values_.resize(n);
        for (std::size_t i = 0; i < n; ++i) values_[i] = static_cast<Value>((*wide)[i]);
      } else {
        fail(page, kUnknownEncoding);
      }
    }
    return values_;
  }
}

template class PageValues<std::uint8_t>;
template class PageValues<std::int32_t>;
template class PageValues<std::int64_t>;
template class PageValues<Int96>;
template class PageValues<float>;
template class PageValues<double>;
template class PageValues<std::string_view>;

}  // namespace podere::columns
