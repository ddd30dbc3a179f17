// The fields of delimited text (RFC 4180), one after another.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace podere::io {

/// What is wrong with a text, and where.
struct TextFault {
  const char* at;
  std::string message;
};

/// Reads fields from text that ends with a line end. Blanks round a field do not belong to it; with the delimiter space
/// any number of spaces is one delimiter, and those round a line count for nothing. A comment ends a line as a line end
/// does.
class FieldReader {
 public:
  explicit FieldReader(char delimiter, std::optional<char> comment = {})
      : delimiter_(delimiter), comment_(comment.value_or('\n')) {}

  char delimiter() const { return delimiter_; }

  bool is_blank(char c) const { return c == ' ' || (c == '\t' && delimiter_ != '\t'); }

  const char* skip_blanks(const char* p) const {
    while (is_blank(*p) && *p != delimiter_) ++p;
    return p;
  }

  /// Where a line begins at `p`: where its first field begins.
  const char* enter_line(const char* p) const {
    while (delimiter_ == ' ' && *p == ' ') ++p;
    return p;
  }

  /// Behind a field at `p`: its delimiter, its line end, or what should not be there.
  const char* leave_field(const char* p) const {
    if (delimiter_ != ' ' || *p != ' ') return p;
    while (*p == ' ') ++p;
    return ends_line(*p) ? p : p - 1;
  }

  bool ends_line(char c) const { return c == '\n' || c == '\r' || c == comment_; }
  bool ends_field(char c) const { return c == delimiter_ || ends_line(c); }

  /// Reads the field at `p` in a text that ends at `end` with a line end. Sets `content`, which lives until the next
  /// call; returns the delimiter or line end behind. Throws TextFault.
  const char* read(const char* p, const char* end, std::string_view& content);

  /// Steps over the line end at `p`, in a text that ends with LF: LF, CRLF or a comment. Throws TextFault if there is
  /// none.
  const char* leave_line(const char* p) const;

  /// All fields of a row that ends with a line end.
  std::vector<std::string> read_row(std::string_view row);

 private:
  const char* read_quoted(const char* p, const char* end, std::string_view& content);

  char delimiter_;
  char comment_;  // what begins a comment; a line end where nothing does
  std::string unescaped_;
};

/// Steps over the line end at `p`: LF or CRLF. Throws TextFault if there is none.
const char* step_over_line_end(const char* p);

}  // namespace podere::io
