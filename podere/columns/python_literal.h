// Literals of Python, as far as headers of NumPy files have them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace podere::columns {

struct PythonLiteral {
  enum class Kind { kText, kNumber, kBool, kTuple, kList, kDict };
  Kind kind = Kind::kText;
  std::string text;                  ///< of a text: UTF-8
  std::uint64_t number = 0;          ///< of a number; 1 of True
  std::vector<PythonLiteral> items;  ///< of tuples and lists; of a dict keys and values in turn
};

/// Why a text is no literal, and at which byte.
struct PythonFault {
  std::size_t byte;
  std::string message;
};

/// Reads a literal, with blanks round it: texts, whole numbers from 0, True and False, and tuples, lists and dicts of
/// such, 16 deep. `text` is UTF-8 or, with `is_latin`, Latin-1. Throws PythonFault.
PythonLiteral parse_python_literal(std::string_view text, bool is_latin);

/// Appends a character of Unicode as UTF-8. False if there is none of this number.
bool append_utf8(std::string& text, std::uint32_t character);

}  // namespace podere::columns
