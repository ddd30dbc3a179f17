// The decoders of each format.
#pragma once

#include <string>

#include "podere/image/decode.h"

namespace podere::image {

// As decode(), for bytes that begin as the format does.
Picture decode_tiff(Bytes bytes, const std::string& name, const DecodeOptions& options);
Picture decode_jpeg(Bytes bytes, const std::string& name, const DecodeOptions& options);
Picture decode_png(Bytes bytes, const std::string& name, const DecodeOptions& options);

/// Of a TIFF.
std::uint32_t count_tiff_pages(Bytes bytes, const std::string& name);

}  // namespace podere::image
