// A look at JSON text before it is parsed.
#pragma once

#include <string_view>

namespace podere {

/// Deepest nesting that Podere's own files and messages come near.
inline constexpr int kMaxJsonDepth = 64;

/// Whether arrays and objects in `json` are nested more than `depth` deep. The JSON library walks a value recursively,
/// so text of outside could end the process by running out of stack. `json` need not be valid.
inline bool is_nested_deeper_than(std::string_view json, int depth) {
  int open = 0;
  bool is_in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (is_in_string) {
      if (c == '\\') ++i;
      is_in_string = c != '"';
    } else if (c == '"') {
      is_in_string = true;
    } else if (c == '[' || c == '{') {
      if (++open > depth) return true;
    } else if (c == ']' || c == '}') {
      --open;
    }
  }
  return false;
}

}  // namespace podere
