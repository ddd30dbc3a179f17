// What the first lines of a delimited file say about it, and which of its fields become which columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "podere/io/byte_source.h"
#include "podere/io/csv.h"
#include "podere/table/table.h"

namespace podere::io {

/// Stands in a table where a file has no value.
inline constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

/// The texts that stand for a missing value.
class MissingTokens {
 public:
  explicit MissingTokens(const std::vector<std::string>& tokens);
  bool holds(std::string_view text) const;
  /// A token that is a number stands for every spelling of that number (-999 also for -999.0).
  bool holds(float value) const;

 private:
  std::vector<std::string> texts_;
  std::vector<float> numbers_;
};

struct CsvLayout {
  char delimiter = ',';
  bool has_header = false;
  bool found_header = false;       ///< nobody had said so
  std::uint64_t text_begin = 0;    ///< behind the byte order mark
  std::vector<std::string> names;  ///< of all fields of a line
  table::Schema schema;
  LabelChoice label_choice = LabelChoice::kOption;  ///< of the label of the schema
  bool finds_categories = false;    ///< the dictionaries of the schema are empty until the rows are read
  std::vector<std::size_t> fields;  ///< position in the line of each column of the table: features, label, weight
};

/// Which of the columns are called as labels are: label, target, class or y, in any case. Rising.
std::vector<std::size_t> usual_labels(const std::vector<std::string>& names);

/// Reads the first lines of `source`. Throws InputError, with `name` for the file, if they do not fit the options.
CsvLayout find_layout(const ByteSource& source, const std::string& name, const CsvOptions& options);

}  // namespace podere::io
