#include "podere/columns/arrow_unpack.h"

#include <fmt/format.h>
#include <lz4frame.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace podere::columns {
namespace {

constexpr std::size_t kArrowChunkBytes = std::size_t{1} << 16;

class ArrowLz4 final : public ArrowUnpacker {
 public:
  ArrowLz4() {
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context_, LZ4F_VERSION)) != 0) throw std::bad_alloc();
  }
  ~ArrowLz4() override { LZ4F_freeDecompressionContext(context_); }
  ArrowLz4(const ArrowLz4&) = delete;
  ArrowLz4& operator=(const ArrowLz4&) = delete;

  std::size_t unpack(std::span<const char>& packed, std::span<char> out) override {
    std::size_t n_out = out.size(), n_in = packed.size();
    const std::size_t state = LZ4F_decompress(context_, out.data(), &n_out, packed.data(), &n_in, nullptr);
    if (LZ4F_isError(state) != 0) {
      throw ArrowDamage{fmt::format("its LZ4 frame is damaged ({})", LZ4F_getErrorName(state))};
    }
    packed = packed.subspan(n_in);
    return n_out;
  }

 private:
  LZ4F_dctx* context_ = nullptr;
};

class ArrowZstd final : public ArrowUnpacker {
 public:
  ArrowZstd() : context_(ZSTD_createDCtx()) {
    if (context_ == nullptr) throw std::bad_alloc();
  }
  ~ArrowZstd() override { ZSTD_freeDCtx(context_); }
  ArrowZstd(const ArrowZstd&) = delete;
  ArrowZstd& operator=(const ArrowZstd&) = delete;

  std::size_t unpack(std::span<const char>& packed, std::span<char> out) override {
    ZSTD_inBuffer from = {packed.data(), packed.size(), 0};
    ZSTD_outBuffer to = {out.data(), out.size(), 0};
    const std::size_t state = ZSTD_decompressStream(context_, &to, &from);
    if (ZSTD_isError(state) != 0) {
      throw ArrowDamage{fmt::format("its Zstandard frame is damaged ({})", ZSTD_getErrorName(state))};
    }
    packed = packed.subspan(from.pos);
    return to.pos;
  }

 private:
  ZSTD_DCtx* context_;
};

}  // namespace

ArrowBuffer::ArrowBuffer(const io::ByteSource& source, ArrowPlace place, ArrowCodec codec)
    : source_(source), left_(place), size_(place.n_bytes) {
  static_assert(std::endian::native == std::endian::little);
  if (codec == ArrowCodec::kNone || place.n_bytes == 0) return;
  std::array<char, 8> bytes;
  if (read_stored(bytes) < bytes.size()) throw ArrowDamage{"a packed buffer has no length"};
  const auto size = std::bit_cast<std::int64_t>(bytes);
  if (size < -1) throw ArrowDamage{fmt::format("a packed buffer has {} bytes", size)};
  size_ = size == -1 ? left_.n_bytes : static_cast<std::uint64_t>(size);
  if (size == -1) return;
  if (codec == ArrowCodec::kLz4) unpacker_ = std::make_unique<ArrowLz4>();
  if (codec == ArrowCodec::kZstd) unpacker_ = std::make_unique<ArrowZstd>();
}

std::size_t ArrowBuffer::read_stored(std::span<char> bytes) {
  if (!cursor_) cursor_ = source_.cursor_at(left_.begin);
  const auto n_wanted = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), left_.n_bytes));
  const std::size_t n = cursor_->read(bytes.first(n_wanted));
  left_ = {left_.begin + n, left_.n_bytes - n};
  return n;
}

/// Makes chunk_left_ what comes next.
void ArrowBuffer::fill() {
  chunk_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kArrowChunkBytes, size_)));
  std::size_t n = 0;
  if (!unpacker_) {
    n = read_stored(chunk_);
    if (n == 0) throw ArrowDamage{"a buffer ends before its values"};
  }
  while (n == 0) {
    const bool is_at_end = packed_left_.empty() && left_.n_bytes == 0;
    if (packed_left_.empty() && !is_at_end) {
      packed_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kArrowChunkBytes, left_.n_bytes)));
      packed_left_ = {packed_.data(), read_stored(packed_)};
    }
    const std::size_t n_before = packed_left_.size();
    n = unpacker_->unpack(packed_left_, chunk_);
    if (n == 0 && packed_left_.size() == n_before) throw ArrowDamage{"a packed buffer ends before its values"};
  }
  chunk_left_ = {chunk_.data(), n};
}

void ArrowBuffer::read(std::span<char> bytes) {
  if (bytes.size() > size_ - n_taken_) throw ArrowDamage{"a buffer is shorter than its rows need"};
  n_taken_ += bytes.size();
  while (!bytes.empty()) {
    if (chunk_left_.empty()) fill();
    const std::size_t n = std::min(bytes.size(), chunk_left_.size());
    std::memcpy(bytes.data(), chunk_left_.data(), n);
    chunk_left_ = chunk_left_.subspan(n);
    bytes = bytes.subspan(n);
  }
}

void ArrowBuffer::skip(std::uint64_t n_bytes) {
  if (n_bytes > size_ - n_taken_) throw ArrowDamage{"a buffer is shorter than its rows need"};
  n_taken_ += n_bytes;
  while (n_bytes > 0) {
    if (chunk_left_.empty() && !unpacker_) {
      left_ = {left_.begin + n_bytes, left_.n_bytes - n_bytes};
      cursor_.reset();
      return;
    }
    if (chunk_left_.empty()) fill();
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(n_bytes, chunk_left_.size()));
    chunk_left_ = chunk_left_.subspan(n);
    n_bytes -= n;
  }
}

std::vector<char> ArrowBuffer::read_rest() {
  std::vector<char> rest;
  while (n_taken_ < size_) {
    const std::size_t n_before = rest.size();
    const std::uint64_t n = std::min<std::uint64_t>(size_ - n_taken_, std::max(n_before, kArrowChunkBytes));
    rest.resize(n_before + static_cast<std::size_t>(n));
    read(std::span(rest).subspan(n_before));
  }
  return rest;
}

}  // namespace podere::columns
