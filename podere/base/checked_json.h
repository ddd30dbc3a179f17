// JSON files that name their format, and have a checksum.
#pragma once

#include <functional>
#include <string>

#include "podere/base/json.h"

namespace podere {

/// A kind of file. {"format": format, "version": ..., "checksum": ..., "model": content}
struct CheckedJsonKind {
  const char* format;
  const char* words;  ///< such as "a model of boosted trees"
  int newest_version;
  const char* advice = "";  ///< what to do with a file of another kind, such as "; convert it"
};

/// Whether a text is meant to be of that kind, whole or not.
bool is_of_kind(const std::string& text, const CheckedJsonKind& kind);

/// The text of a file, with a line break at its end.
std::string checked_json_text(const CheckedJsonKind& kind, int version, Json content);

/// Calls `read` with the content of a file's text. Throws InputError, beginning with `name`, for text that is not
/// whole, was altered, is of another kind or of a newer version, or for which `read` throws InputError or a JSON
/// exception.
void read_checked_json(const std::string& text, const std::string& name, const CheckedJsonKind& kind,
                       const std::function<void(const Json& content)>& read);

}  // namespace podere
