// Which random numbers are for what: streams of hash64.
#pragma once

#include <cstdint>

namespace podere::tree {

enum Stream : std::uint64_t {
  kCutStream,
  kValidationStream,
  kSubsampleStream,
  kColumnStream,
  kRoundingStream,
  kPermutationStream
};

}  // namespace podere::tree
