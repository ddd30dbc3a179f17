// Decoding in a process of its own: for pictures that may end the one that decodes them.
#pragma once

#include <string>

#include "podere/image/microscope.h"

namespace podere::image {

/// As decode_with_facts(), by the process that `podere decode` starts: nothing of the file is parsed in this one. Costs
/// some 50 ms. Also throws PictureFault where that process crashes (kEndsDecoder), or needs more than `most_seconds` of
/// processor time (kTooSlow). Thread-safe. Throws Error if the process cannot be started, or is ended by others, as
/// where memory runs short.
PictureWithFacts decode_apart(Bytes bytes, const std::string& name, int most_seconds,
                              const DecodeOptions& options = {});

/// What that process does: decodes the file that is its standard input, and writes what is in it, or why there is no
/// picture, to its standard output. Returns its exit code.
int decode_for_another(const std::string& name, int most_seconds, const DecodeOptions& options);

/// A fault of kind kTooSlow.
[[noreturn]] void throw_too_slow(const std::string& name, int most_seconds);

}  // namespace podere::image
