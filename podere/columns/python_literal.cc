#include "podere/columns/python_literal.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "podere/base/printable.h"

namespace podere::columns {
namespace {

/// Reads on in a text.
class LiteralReader {
 public:
  LiteralReader(std::string_view text, bool is_latin) : text_(text), is_latin_(is_latin) {}

  PythonLiteral read_all() {
    PythonLiteral literal = read(0);
    skip_blanks();
    if (at_ != text_.size()) fail("more follows");
    return literal;
  }

 private:
  static constexpr int kMostDepth = 16;

  [[noreturn]] void fail(std::string message) const { throw PythonFault{at_, std::move(message)}; }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }

  bool take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  PythonLiteral read(int depth) {
    if (depth > kMostDepth) fail("it is nested too deep");
    skip_blanks();
    if (at_ == text_.size()) fail("a value is missing");
    const char c = text_[at_];
    if (c == '\'' || c == '"') return {.kind = PythonLiteral::Kind::kText, .text = read_text()};
    if (c >= '0' && c <= '9') return {.kind = PythonLiteral::Kind::kNumber, .number = read_number()};
    if (take("True")) return {.kind = PythonLiteral::Kind::kBool, .number = 1};
    if (take("False")) return {.kind = PythonLiteral::Kind::kBool};
    ++at_;
    if (c == '(') return read_items(PythonLiteral::Kind::kTuple, ')', depth);
    if (c == '[') return read_items(PythonLiteral::Kind::kList, ']', depth);
    if (c == '{') return read_items(PythonLiteral::Kind::kDict, '}', depth);
    --at_;
    fail("a value is needed");
  }

  PythonLiteral read_items(PythonLiteral::Kind kind, char end, int depth) {
    PythonLiteral literal{.kind = kind};
    bool has_comma = false;
    for (bool is_first = true;; is_first = false) {
      skip_blanks();
      if (take({&end, 1})) break;
      if (!is_first && !has_comma) fail("a comma is missing");
      literal.items.push_back(read(depth + 1));
      skip_blanks();
      if (kind == PythonLiteral::Kind::kDict) {
        if (!take(":")) fail("a colon is missing");
        literal.items.push_back(read(depth + 1));
        skip_blanks();
      }
      has_comma = take(",");
    }
    // (3) is a number in brackets.
    if (kind == PythonLiteral::Kind::kTuple && literal.items.size() == 1 && !has_comma) {
      PythonLiteral inner = std::move(literal.items[0]);
      return inner;
    }
    return literal;
  }

  std::uint64_t read_number() {
    std::uint64_t number = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), number);
    if (error != std::errc()) fail("the number is too large");
    at_ += static_cast<std::size_t>(end - begin);
    take("L");  // of Python 2
    return number;
  }

  std::string read_text() {
    const char quote = text_[at_++];
    std::string text;
    for (;;) {
      if (at_ == text_.size()) fail("a text does not end");
      const char c = text_[at_++];
      if (c == quote) break;
      if (c == '\\') {
        append(text, read_escape());
      } else if (is_latin_) {
        append(text, static_cast<unsigned char>(c));
      } else {
        text += c;
      }
    }
    if (!is_utf8(text)) fail("a text is not UTF-8");
    return text;
  }

  void append(std::string& text, std::uint32_t character) const {
    if (!append_utf8(text, character)) fail("there is no such character");
  }

  std::uint32_t read_escape() {
    if (at_ == text_.size()) fail("a text does not end");
    const char c = text_[at_++];
    switch (c) {
      case '\\':
      case '\'':
      case '"':
        return static_cast<unsigned char>(c);
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 't':
        return '\t';
      case 'x':
        return read_hexadecimal(2);
      case 'u':
        return read_hexadecimal(4);
      case 'U':
        return read_hexadecimal(8);
      default:
        --at_;
        fail("there is no such escape");
    }
  }

  std::uint32_t read_hexadecimal(std::size_t n_digits) {
    const std::string_view digits = text_.substr(at_, n_digits);
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
    if (digits.size() < n_digits || error != std::errc() || end != digits.data() + digits.size()) {
      fail("there is no such escape");
    }
    at_ += n_digits;
    return number;
  }

  std::string_view text_;
  bool is_latin_;
  std::size_t at_ = 0;
};

}  // namespace

bool append_utf8(std::string& text, std::uint32_t character) {
  if (character > 0x10ffff || (character >= 0xd800 && character < 0xe000)) return false;
  const auto append = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  const auto append_rest = [&](int shift) { append(0x80 | (character >> shift & 0x3f)); };
  if (character < 0x80) {
    append(character);
  } else if (character < 0x800) {
    append(0xc0 | character >> 6);
    append_rest(0);
  } else if (character < 0x10000) {
    append(0xe0 | character >> 12);
    append_rest(6);
    append_rest(0);
  } else {
    append(0xf0 | character >> 18);
    append_rest(12);
    append_rest(6);
    append_rest(0);
  }
  return true;
}

PythonLiteral parse_python_literal(std::string_view text, bool is_latin) {
  return LiteralReader(text, is_latin).read_all();
}

}  // namespace podere::columns
