// Unpacking a block of bytes whose size is known.
#pragma once

#include <span>

namespace podere::columns {

enum class Codec { kNone, kSnappy, kGzip, kBrotli, kZstd, kLz4, kLz4OfHadoop };

/// Whether `from` is packed by `codec`, and unpacks to all of `to`: no less, no more. Reads and writes within these.
bool unpack(Codec codec, std::span<const char> from, std::span<char> to);

}  // namespace podere::columns
