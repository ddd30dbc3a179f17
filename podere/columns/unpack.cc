#include "podere/columns/unpack.h"

#include <brotli/decode.h>
#include <lz4.h>
#include <snappy-c.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace podere::columns {
namespace {

bool unpack_snappy(std::span<const char> from, std::span<char> to) {
  std::size_t size = 0;
  if (snappy_uncompressed_length(from.data(), from.size(), &size) != SNAPPY_OK || size != to.size()) return false;
  return snappy_uncompress(from.data(), from.size(), to.data(), &size) == SNAPPY_OK;
}

/// Of one member or more.
bool unpack_gzip(std::span<const char> from, std::span<char> to) {
  constexpr int kGzipOrZlib = 15 + 32;
  z_stream stream{};
  if (inflateInit2(&stream, kGzipOrZlib) != Z_OK) return false;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from.data()));
  stream.avail_in = static_cast<uInt>(from.size());
  stream.next_out = reinterpret_cast<Bytef*>(to.data());
  stream.avail_out = static_cast<uInt>(to.size());
  int result = Z_OK;
  while (true) {
    result = inflate(&stream, Z_FINISH);
    if (result != Z_STREAM_END || stream.avail_in == 0 || inflateReset(&stream) != Z_OK) break;
  }
  const bool is_all = result == Z_STREAM_END && stream.avail_in == 0 && stream.avail_out == 0;
  inflateEnd(&stream);
  return is_all;
}

bool unpack_brotli(std::span<const char> from, std::span<char> to) {
  std::size_t size = to.size();
  return BrotliDecoderDecompress(from.size(), reinterpret_cast<const std::uint8_t*>(from.data()), &size,
                                 reinterpret_cast<std::uint8_t*>(to.data())) == BROTLI_DECODER_RESULT_SUCCESS &&
         size == to.size();
}

bool unpack_zstd(std::span<const char> from, std::span<char> to) {
  return ZSTD_decompress(to.data(), to.size(), from.data(), from.size()) == to.size();
}

bool unpack_lz4(std::span<const char> from, std::span<char> to) {
  return std::cmp_equal(
      LZ4_decompress_safe(from.data(), to.data(), static_cast<int>(from.size()), static_cast<int>(to.size())),
      to.size());
}

std::uint32_t big_endian(const char* p) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<std::uint8_t>(p[i]);
  return value;
}

/// Blocks, each behind its size unpacked and packed, of 4 bytes. Some programs write one block without them.
bool unpack_lz4_of_hadoop(std::span<const char> from, std::span<char> to) {
  constexpr std::size_t kSizes = 8;
  std::span<const char> rest = from;
  std::span<char> left = to;
  while (rest.size() >= kSizes) {
    const std::uint32_t size = big_endian(rest.data()), packed = big_endian(rest.data() + 4);
    rest = rest.subspan(kSizes);
    if (packed > rest.size() || size > left.size() || !unpack_lz4(rest.first(packed), left.first(size))) break;
    rest = rest.subspan(packed);
    left = left.subspan(size);
    if (rest.empty()) return left.empty();
  }
  return unpack_lz4(from, to);
}

}  // namespace

bool unpack(Codec codec, std::span<const char> from, std::span<char> to) {
  switch (codec) {
    case Codec::kNone:
      if (from.size() != to.size()) return false;
      std::ranges::copy(from, to.begin());
      return true;
    case Codec::kSnappy:
      return unpack_snappy(from, to);
    case Codec::kGzip:
      return unpack_gzip(from, to);
    case Codec::kBrotli:
      return unpack_brotli(from, to);
    case Codec::kZstd:
      return unpack_zstd(from, to);
    case Codec::kLz4:
      return unpack_lz4(from, to);
    case Codec::kLz4OfHadoop:
      return unpack_lz4_of_hadoop(from, to);
  }
  return false;
}

}  // namespace podere::columns
