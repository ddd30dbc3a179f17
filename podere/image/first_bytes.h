// What a file is by its first bytes.
#pragma once

#include <optional>
#include <string>

#include "podere/image/decode.h"

namespace podere::image {

enum class Format { kTiff, kJpeg, kPng };

/// Throws PictureFault for any other file, and names what it is where that is known.
Format find_format(Bytes bytes, const std::string& name);

/// Whether the file that begins so is of one of these formats. 16 bytes are enough.
bool begins_as_picture(Bytes bytes);

}  // namespace podere::image
