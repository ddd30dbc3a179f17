// JSON that people write, rather than programs.
#pragma once

#include <string_view>

#include "podere/base/json.h"

namespace podere {

/// The object that a text is. Throws InputError, which names no file, for text that is none, is nested too deep, or has
/// a member twice, of which JSON libraries take the last and say nothing.
Json parse_written_object(std::string_view text);

}  // namespace podere
