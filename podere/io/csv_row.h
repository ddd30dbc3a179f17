// Rows of delimited text to rows of numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "podere/io/column_forms.h"
#include "podere/io/csv_categories.h"
#include "podere/io/csv_field.h"
#include "podere/io/csv_layout.h"

namespace podere::io {

/// Parses rows of one layout. For one thread; borrows what it is made of.
class RowParser {
 public:
  /// Texts where numbers belong are missing values and counted in `texts`; without it they are faults.
  RowParser(const CsvLayout& layout, const MissingTokens& missing, Categories& categories, TextCounts* texts);

  /// Parses the row at `p` in a text that ends at `end` with a line end, with LineReader::kPadding bytes readable
  /// behind. Sets values [columns of the table]; returns the begin of the next line. Throws TextFault for a row that
  /// does not fit.
  const char* parse(const char* p, const char* end, float* values);

 private:
  const char* parse_value(const char* p, const char* end, std::size_t field, float& value);
  const char* parse_special(const char* p, const char* end, std::size_t field, float* values);
  const char* read_field(const char* p, const char* end, std::size_t field, std::string_view& content);
  float to_value(std::string_view content, const char* p, std::size_t field) const;
  void set_values_of_form(std::string_view content, const char* p, std::size_t field, float* values) const;
  std::string column(std::size_t field) const;
  float take_text(std::string_view content, const char* p, std::size_t field, const std::string& fault) const;

  static constexpr std::uint32_t kSkipped = 0xffffffff;
  // Added to the column; what is less is a plain number.
  static constexpr std::uint32_t kOfForm = 0x40000000;
  static constexpr std::uint32_t kCategory = 0x80000000;

  const CsvLayout& layout_;
  const MissingTokens& missing_;
  CategoryReader categories_;
  TextCounts* texts_;
  FieldReader reader_;
  std::vector<std::uint32_t> columns_;  // of the table, by field; kSkipped if it has none
  std::vector<std::uint32_t> parts_;    // columns that hold parts of dates
};

}  // namespace podere::io
