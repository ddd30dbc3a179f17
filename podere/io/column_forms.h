// What columns hold where plain numbers belong, and what is made of it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/io/csv.h"
#include "podere/io/csv_layout.h"

namespace podere::io {

/// With CsvOptions::finds_categories a column has at most as many categories, each in two rows on average.
inline constexpr std::size_t kMostFoundCategories = 1000;

/// What a column of a table has where numbers belong.
struct FoundTexts {
  std::uint64_t n_texts = 0;
  std::uint64_t forms = ~std::uint64_t{0};  ///< of number_forms(): those of all its texts
  std::size_t n_different = 0;              ///< texts, kMostFoundCategories + 1 if there are more; 0: not counted
};

/// Gathers it from all threads of a rank.
class TextCounts {
 public:
  TextCounts(std::size_t n_columns, bool counts_different) : columns_(n_columns), counts_different_(counts_different) {}

  /// Thread-safe.
  void count(std::size_t column, std::string_view text);
  /// Over all ranks [n_columns]. Collective.
  std::vector<FoundTexts> join(const comm::Communicator& comm) const;

 private:
  struct Column {
    std::atomic<std::uint64_t> n_texts = 0;
    std::atomic<std::uint64_t> forms = ~std::uint64_t{0};
    std::atomic<bool> has_many = false;
    std::mutex mutex;
    std::set<std::string, std::less<>> different;  // guarded by mutex
  };
  std::vector<Column> columns_;
  bool counts_different_;
};

/// Adds the parts of all dates behind the features; the hour where the first rows have times. Throws InputError where
/// there are no dates.
void add_date_parts(const std::string& file, CsvLayout& layout);

/// Columns whose texts may all be numbers with a decimal comma, or with a comma every three digits: plain numbers among
/// them may decide.
std::vector<std::size_t> commas_in_doubt(const CsvOptions& options, const std::vector<FoundTexts>& found,
                                         const CsvLayout& layout);

/// Sets the forms of `layout` by what was found in `n_rows` rows; where options say so, makes features categories or
/// leaves them out. False if nothing is another way than before. Throws InputError, with `file`, for texts that may
/// stand for different numbers.
bool choose_forms(const std::string& file, const CsvOptions& options, const std::vector<FoundTexts>& found,
                  std::uint64_t n_rows, CsvLayout& layout);

/// Gives columns that now have more texts than at first the forms of `before` again; false if there are none.
bool restore_forms(const std::vector<FoundTexts>& at_first, const std::vector<FoundTexts>& now, const CsvLayout& before,
                   CsvLayout& layout);

}  // namespace podere::io
