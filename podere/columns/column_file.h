// Files that hold columns, whose kinds they say, rather than lines of text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "podere/table/row.h"

namespace podere::columns {

/// What a column holds, as its file says. kOther is what no table can have: lists, structs, binary data.
enum class Kind { kNumber, kBoolean, kDate, kTimeOfDay, kText, kOther };

/// The type of columns in which no row has a value: files of other rows may have values of any kind in them.
inline constexpr const char* kNoValues = "null";

/// Why columns are left out: they number or name the rows of a data frame; they are a group of arrays beside those that
/// are read; they say where and when the values of others were.
inline constexpr const char* kFrameIndex = "frame";
inline constexpr const char* kOtherGroup = "group";
inline constexpr const char* kCoordinate = "coordinate";

struct Column {
  std::string name;
  Kind kind = Kind::kNumber;
  std::string type;  ///< as the file calls it, for messages: "list<double>"
  /// Why it is left out unless an option asks for it, as of io::LeftOut. Empty: it is not.
  std::string left_out = {};
};

/// What a file says beyond its columns.
struct FileNotes {
  std::vector<std::string> lines = {};  ///< for users: "rows are 'time'"
  /// What files that make one table have in common, if they say it: {"the units of 'sst'", "K"}.
  std::vector<std::pair<std::string, std::string>> common = {};
  /// Of coordinates, which are columns only if they are named: {"time", "days since 2001-01-01"}.
  std::vector<std::pair<std::string, std::string>> coordinate_units = {};
  bool has_keys = false;  ///< an array of it may be named by a key
};

/// What is wrong with the values of a column, and in or behind which row of the file.
struct ColumnFault {
  std::uint64_t row;
  std::size_t column;
  std::string message;  ///< follows the column
};

/// Where the values of a column go, of some rows one after another.
struct ColumnRead {
  std::size_t column;  ///< of the file
  /// Where its numbers go [rows]: the nearest float32; a boolean as 0 or 1, a date as days since 1970-01-01 in UTC, or
  /// in the place where there is no zone, a time of day as a fraction of a day, NaN for what is missing. Empty: texts
  /// are wanted. Not of a column of texts.
  std::span<float> numbers = {};
  /// Takes its texts, of rows that rise from 0: numbers and dates as text_of() writes them. Not called for rows without
  /// a value. The text lives until it returns.
  /// What it throws is not caught.
  std::function<void(std::size_t row, std::string_view text)> take_text = {};
  /// In place of `numbers`, the nearest float64. Only of files with gives_float64().
  std::span<double> doubles = {};
};

/// A file that was opened: its columns, and how many rows there are. Local, but the same for all ranks.
class ColumnFile {
 public:
  virtual ~ColumnFile() = default;

  virtual const std::string& name() const = 0;
  virtual const std::vector<Column>& columns() const = 0;
  /// Where the groups of rows begin that are read in one go, and the end of the last: rising from 0. One number alone
  /// if there are no rows.
  virtual const std::vector<std::uint64_t>& group_begins() const = 0;
  /// Files, and those columns whose values are in the names of their folders.
  virtual std::size_t n_files() const { return 1; }
  virtual std::vector<std::string> folder_columns() const { return {}; }
  virtual FileNotes notes() const { return {}; }
  /// Of pixels, as table::Schema has it.
  virtual std::string pictures() const { return ""; }
  std::uint64_t n_rows() const { return group_begins().back(); }
  /// Whether each column is read by itself as fast as with others.
  virtual bool columns_lie_apart() const = 0;
  /// Whether its numbers may be wanted as ColumnRead::doubles.
  virtual bool gives_float64() const { return false; }
  /// Whether groups are found best one behind another, as in a packed archive: then threads ask for them in that order.
  virtual bool rows_lie_behind_another() const { return false; }
  /// Reads rows [rows.begin, rows.end) of one group. A column is asked for once. Thread-safe. Throws ColumnFault for
  /// what is damaged, and for a finite number that is beyond what is wanted: float32, or float64 as `doubles`.
  virtual void read(table::RowRange rows, std::span<const ColumnRead> wanted) const = 0;
  /// Throws InputError if the file is not what it was when it was opened.
  virtual void check_unchanged() const = 0;
};

}  // namespace podere::columns
