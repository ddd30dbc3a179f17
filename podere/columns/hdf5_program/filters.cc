#include "podere/columns/hdf5_program/filters.h"

#include <blosc.h>
#include <hdf5.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>

extern "C" {
#include <lzf.h>
}

namespace podere::columns::hdf5 {
namespace {

// Source: The HDF Group, registered filter plugins.
constexpr H5Z_filter_t kLzf = 32000, kBlosc = 32001, kLz4 = 32004, kZstd = 32015;
constexpr std::size_t kMostChunkBytes = std::size_t{1} << 31;

/// Bytes that the library takes over by free(); its own are replaced by these.
struct Unpacked {
  void* bytes;
  std::size_t n;
};

std::uint64_t big_endian(const unsigned char* from, std::size_t n) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < n; ++i) value = value << 8 | from[i];
  return value;
}

/// Room for `n` bytes, filled by `fill`; nothing if that says no.
template <typename Fill>
std::optional<Unpacked> fill_room(std::size_t n, Fill&& fill) {
  if (n == 0 || n > kMostChunkBytes) return {};
  void* room = std::malloc(n);
  if (room == nullptr) return {};
  if (fill(static_cast<char*>(room))) return Unpacked{room, n};
  std::free(room);
  return {};
}

/// The size of what is unpacked is the third value of the filter, if it has so many; else it is found by trying.
std::optional<Unpacked> unpack_lzf(const unsigned char* from, std::size_t n, const unsigned* values,
                                   std::size_t n_values) {
  std::size_t room_bytes = n_values >= 3 && values[2] > 0 ? values[2] : 4 * n;
  std::optional<Unpacked> unpacked;
  for (bool is_too_small = true; is_too_small && !unpacked; room_bytes *= 2) {
    is_too_small = false;
    std::size_t n_unpacked = 0;
    unpacked = fill_room(room_bytes, [&](char* room) {
      errno = 0;
      n_unpacked = lzf_decompress(from, static_cast<unsigned>(n), room, static_cast<unsigned>(room_bytes));
      is_too_small = n_unpacked == 0 && errno == E2BIG;
      return n_unpacked > 0;
    });
    if (unpacked) unpacked->n = n_unpacked;
  }
  return unpacked;
}

std::optional<Unpacked> unpack_blosc(const unsigned char* from, std::size_t n, const unsigned*, std::size_t) {
  std::size_t size = 0;
  if (blosc_cbuffer_validate(from, n, &size) != 0) return {};
  return fill_room(size,
                   [&](char* room) { return blosc_decompress_ctx(from, room, size, 1) == static_cast<int>(size); });
}

/// Bytes in all, bytes of a block, and the blocks, each with its bytes when packed; numbers have their largest byte
/// first.
std::optional<Unpacked> unpack_lz4(const unsigned char* from, std::size_t n, const unsigned*, std::size_t) {
  if (n < 12) return {};
  const std::uint64_t size = big_endian(from, 8), block = big_endian(from + 8, 4);
  if (block == 0) return {};
  return fill_room(size, [&](char* room) {
    std::size_t at = 12;
    for (std::uint64_t done = 0; done < size;) {
      const std::uint64_t n_block = std::min(block, size - done);
      if (n - at < 4) return false;
      const std::uint64_t n_packed = big_endian(from + at, 4);
      at += 4;
      if (n_packed > n - at) return false;
      if (n_packed == n_block) {  // as it was
        std::memcpy(room + done, from + at, n_block);
      } else if (LZ4_decompress_safe(reinterpret_cast<const char*>(from + at), room + done, static_cast<int>(n_packed),
                                     static_cast<int>(n_block)) != static_cast<int>(n_block)) {
        return false;
      }
      at += n_packed;
      done += n_block;
    }
    return true;
  });
}

std::optional<Unpacked> unpack_zstd(const unsigned char* from, std::size_t n, const unsigned*, std::size_t) {
  const unsigned long long size = ZSTD_getFrameContentSize(from, n);
  if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR) return {};
  return fill_room(size, [&](char* room) { return ZSTD_decompress(room, size, from, n) == size; });
}

using Unpack = std::optional<Unpacked> (*)(const unsigned char* from, std::size_t n, const unsigned* values,
                                           std::size_t n_values);

/// As the library calls a filter. Nothing is packed here: 0 says that it failed.
template <Unpack kUnpack>
std::size_t apply(unsigned flags, std::size_t n_values, const unsigned* values, std::size_t n, std::size_t* n_room,
                  void** buffer) {
  if ((flags & H5Z_FLAG_REVERSE) == 0) return 0;
  const auto unpacked = kUnpack(static_cast<const unsigned char*>(*buffer), n, values, n_values);
  if (!unpacked) return 0;
  std::free(*buffer);
  *buffer = unpacked->bytes;
  *n_room = unpacked->n;
  return unpacked->n;
}

void add(H5Z_filter_t id, const char* name, H5Z_func_t function) {
  const H5Z_class2_t filter = {H5Z_CLASS_T_VERS, id, 1, 1, name, nullptr, nullptr, function};
  H5Zregister(&filter);
}

}  // namespace

void register_filters() {
  add(kLzf, "lzf", apply<unpack_lzf>);
  add(kBlosc, "blosc", apply<unpack_blosc>);
  add(kLz4, "lz4", apply<unpack_lz4>);
  add(kZstd, "zstd", apply<unpack_zstd>);
}

}  // namespace podere::columns::hdf5
