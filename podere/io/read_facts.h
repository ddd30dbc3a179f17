// What reading found in a file beyond what options say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace podere::io {

/// Which of the columns are called as labels are: label, target, class or y, in any case. Rising.
std::vector<std::size_t> usual_labels(const std::vector<std::string>& names);

/// How many fields of a column hold a text that `coded_as` does not know: by column, without zeros.
using UnknownTexts = std::map<std::string, std::uint64_t>;

/// Why a column is the label: an option says so; the label of `coded_as` has its name; it has one of the usual names,
/// and no other column has, see usual_labels (not where the label of `coded_as` has a name); it is the last, which
/// looks more like classes than the first (texts more than whole numbers, these more than real ones); else it is the
/// first.
enum class LabelChoice { kOption, kModel, kName, kLast, kFirst };

/// Where the label is in a file.
struct LabelColumn {
  std::size_t position = 0;
  LabelChoice choice = LabelChoice::kOption;
  std::string option;        ///< what --label calls it
  std::string other;         ///< what --label calls the last of the features; empty: there are none
  bool last_may_be = false;  ///< it is the first, and the last holds texts or whole numbers, which may be labels too
};

/// A column that is left out, which no option says.
struct LeftOut {
  std::string column;
  /// "index": it has no name, and numbers or names the rows; "frame": the file says that it is a data frame's index;
  /// "group": it is a group of arrays beside those that are read;
  /// "coordinate": it says where and when the values of others were;
  /// "texts": too many differ.
  std::string reason;
};

/// A column of numbers that are written in one of number_forms().
struct ReadAs {
  std::string column;
  std::string form;     ///< NumberForm::name
  std::string meaning;  ///< NumberForm::meaning
};

/// A feature of whole numbers beyond 2^24, some of which float32 does not hold.
struct Rounded {
  std::string column;
  float step;                   ///< how far float32 numbers lie apart at the largest of them
  bool may_be_category = true;  ///< the format has categories
};

/// What was found in a file while it was read.
struct ReadFacts {
  std::size_t n_files = 1;                  ///< of a folder or a pattern
  std::vector<std::string> folder_columns;  ///< whose values are in the names of folders
  std::optional<bool> found_header;         ///< whether the first line names the columns, where no option says it
  std::vector<std::string> notes;           ///< what the file says beyond its columns: "rows are 'time'"
  std::vector<std::string> renamed;         ///< columns whose name another has too: `a` became `a.1`
  std::vector<LeftOut> left_out;
  std::vector<std::string> doubts;  ///< with counts_texts: about columns that are refused without
  std::vector<ReadAs> read_as;
  std::vector<Rounded> rounded;
  std::uint64_t n_unlabeled = 0;        ///< rows left out by CsvOptions::drop_unlabeled
  std::vector<std::string> categories;  ///< that CsvOptions::finds_categories found
  std::optional<LabelColumn> label;
  UnknownTexts unknown;
  /// With counts_texts, of each column of the table [n_columns]:
  struct Column {
    std::string kind;                   ///< number, date, ... as of NumberForm, or text
    std::uint64_t n_texts = 0;          ///< among numbers
    std::size_t n_different_texts = 0;  ///< as of FoundTexts
    std::vector<std::string> examples;  ///< different fields of the first rows, as they are in the file
  };
  std::vector<Column> columns;
};

}  // namespace podere::io
