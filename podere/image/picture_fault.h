// Why a picture cannot be used.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>

#include "podere/base/error.h"

namespace podere::image {

/// What counts of pictures that failed are grouped by.
enum class FaultKind {
  kUnreadable,  ///< the file or member cannot be read
  kEmpty,       ///< no bytes
  kOtherKind,   ///< no picture of a kind that is decoded: a text, GIF, WebP, ...
  kNotDecoded,  ///< a TIFF, JPEG or PNG with something in it that is not decoded
  kNoPage,      ///< the page is not there
  kTooLarge,    ///< beyond the memory that one picture may take
  kDamaged,
  kNearlyBlack,  ///< uses few of the bits that its values have
  kEndsDecoder,  ///< the process that decodes it crashes
  kTooSlow,      ///< beyond the processor time that one picture may take
};

/// "damaged", "too large", ...: one or two words for a table.
std::string_view name_of(FaultKind kind);

/// The message is one line: the picture, what is wrong, what is allowed, what to do.
class PictureFault : public InputError {
 public:
  PictureFault(FaultKind kind, const std::string& message) : InputError(message), kind_(kind) {}
  FaultKind kind() const { return kind_; }

 private:
  FaultKind kind_;
};

template <typename... Args>
[[noreturn]] void throw_fault(FaultKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw PictureFault(kind, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace podere::image
