// Rows of delimited text to rows of numbers.
#pragma once

#include <cstddef>
#include <string_view>

#include "podere/io/csv_field.h"
#include "podere/io/csv_layout.h"
#include "podere/io/field_values.h"
#include "podere/io/file_list.h"

namespace podere::io {

/// Parses rows of one layout. For one thread; borrows what it is made of.
class RowParser {
 public:
  /// As FieldValues; `folders` give the last fields of all rows.
  RowParser(const CsvLayout& layout, const FolderValues& folders, const MissingTokens& missing, Categories& categories,
            TextCounts* texts, RoundedWholes* rounded)
      : layout_(layout),
        folders_(folders),
        missing_(missing),
        values_(layout, missing, categories, texts, rounded),
        reader_(layout.delimiter, layout.rules.comment) {}

  /// Parses the row at `p` in a text that ends at `end` with a line end, with LineReader::kPadding bytes readable
  /// behind. Sets values [columns of the table]; returns the begin of the next line. Throws TextFault for a row that
  /// does not fit.
  const char* parse(const char* p, const char* end, float* values);

 private:
  const char* parse_plain(const char* p, const char* end, std::size_t field, float* values);
  const char* parse_field(const char* p, const char* end, std::size_t field, float* values);
  void set_value(const char* p, std::size_t field, std::string_view content, float* values);
  const char* read_field(const char* p, const char* end, std::size_t field, std::string_view& content);

  const CsvLayout& layout_;
  const FolderValues& folders_;
  const MissingTokens& missing_;
  FieldValues values_;
  FieldReader reader_;
};

}  // namespace podere::io
