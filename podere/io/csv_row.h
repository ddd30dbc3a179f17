// Rows of delimited text to rows of numbers.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "podere/io/csv_categories.h"
#include "podere/io/csv_field.h"
#include "podere/io/csv_layout.h"

namespace podere::io {

/// Parses rows of one layout. For one thread; borrows what it is made of.
class RowParser {
 public:
  RowParser(const CsvLayout& layout, const MissingTokens& missing, Categories& categories);

  /// Parses the row at `p` in a text that ends at `end` with a line end, with LineReader::kPadding bytes readable
  /// behind. Sets values [columns of the table]; returns the begin of the next line. Throws TextFault for a row that
  /// does not fit.
  const char* parse(const char* p, const char* end, float* values);

 private:
  const char* parse_value(const char* p, const char* end, std::size_t field, float& value);
  const char* parse_special(const char* p, const char* end, std::size_t field, float* values);
  const char* read_field(const char* p, const char* end, std::size_t field, std::string_view& content);
  float to_value(std::string_view content, const char* p, std::size_t field) const;
  std::string column(std::size_t field) const;
  const char* advice_on_text(std::size_t field) const;

  static constexpr std::uint32_t kSkipped = 0xffffffff;
  static constexpr std::uint32_t kCategory = 0x80000000;  // added to the column; what is less is a number

  const CsvLayout& layout_;
  const MissingTokens& missing_;
  CategoryReader categories_;
  FieldReader reader_;
  std::vector<std::uint32_t> columns_;  // of the table, by field; kSkipped if it has none
};

}  // namespace podere::io
