// Fields of a row, as texts, to values of a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "podere/io/column_forms.h"
#include "podere/io/csv_categories.h"
#include "podere/io/csv_layout.h"
#include "podere/io/missing_tokens.h"
#include "podere/io/rounded_wholes.h"

namespace podere::io {

/// What is wrong with a field: the field, and why.
struct FieldFault {
  std::string message;
};

/// Sets the values of rows of one layout. For one thread; borrows what it is made of.
class FieldValues {
 public:
  /// Texts where numbers belong are missing values and counted in `texts`; without it they are faults. Whole numbers
  /// that are rounded go to `rounded`, where wanted.
  FieldValues(const CsvLayout& layout, const MissingTokens& missing, Categories& categories, TextCounts* texts,
              RoundedWholes* rounded);

  /// Whether the field of a row is no column of the table; whether it is a plain number, which belongs to column
  /// column_of(field).
  bool is_skipped(std::size_t field) const { return columns_[field] == kSkipped; }
  bool is_plain(std::size_t field) const { return columns_[field] < kOfForm; }
  bool is_category(std::size_t field) const { return columns_[field] >= kCategory && !is_skipped(field); }
  std::size_t column_of(std::size_t field) const { return columns_[field] & ~(kOfForm | kCategory); }
  /// The columns of the table that hold parts of dates.
  const std::vector<std::uint32_t>& parts() const { return parts_; }

  /// Sets what becomes of the field `content` in values [columns of the table]. Throws FieldFault.
  void set(std::size_t field, std::string_view content, float* values);

  /// Notes whether column_of(field) has the whole number `content` as `value`, of at least kFirstRounded.
  void check_rounded(std::size_t field, std::string_view content, float value) const {
    const std::size_t k = column_of(field);
    if (rounded_ != nullptr && rounded_->may_be(k, value) && is_rounded(content, value)) rounded_->note(k, value);
  }

  /// What messages call a column.
  std::string column(std::size_t field) const;

 private:
  float to_value(std::string_view content, std::size_t field) const;
  void set_values_of_form(std::string_view content, std::size_t field, float* values) const;
  float take_text(std::string_view content, std::size_t field, const std::string& fault) const;

  static constexpr std::uint32_t kSkipped = 0xffffffff;
  // Added to the column; what is less is a plain number.
  static constexpr std::uint32_t kOfForm = 0x40000000;
  static constexpr std::uint32_t kCategory = 0x80000000;

  const CsvLayout& layout_;
  const MissingTokens& missing_;
  CategoryReader categories_;
  TextCounts* texts_;
  RoundedWholes* rounded_;
  std::vector<std::uint32_t> columns_;  // of the table, by field; kSkipped if it has none
  std::vector<std::uint32_t> parts_;    // columns that hold parts of dates
};

}  // namespace podere::io
