// What the first lines of a delimited file say about it, and which of its fields become which columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "podere/io/byte_source.h"
#include "podere/io/csv.h"
#include "podere/io/csv_header.h"
#include "podere/io/file_list.h"
#include "podere/io/line_index.h"
#include "podere/io/missing_tokens.h"
#include "podere/io/number_form.h"
#include "podere/table/table.h"

namespace podere::io {

/// What a column has in the first rows where numbers belong.
struct SampleTexts {
  static constexpr std::size_t kMostExamples = 3;
  std::vector<std::string> examples;  ///< different fields that are not missing, texts or not
  std::size_t n = 0;
  bool are_whole = true;    ///< no field is anything else than a whole number
  std::uint64_t forms = 0;  ///< of number_forms(): those that most of them are of, and at least half
};

struct CsvLayout {
  char delimiter = ',';
  bool has_header = false;
  bool found_header = false;           ///< no option says it
  bool saw_rows = false;               ///< there are rows to find the kinds of columns by
  std::uint64_t text_begin = 0;        ///< behind the byte order mark
  LineRules rules;                     ///< which lines are rows, or name the columns
  bool ends_with_delimiter = false;    ///< lines may have a delimiter behind the last field
  std::optional<std::size_t> index{};  ///< column without a name that holds names or numbers of rows: left out
  std::vector<std::string> names;      ///< of all fields of a line, and behind them those of folders
  std::size_t n_folder_fields = 0;     ///< whose values are not in the line: see ListedFile
  struct Renamed {
    std::size_t position;
    std::string was;
  };
  std::vector<Renamed> renamed;  ///< columns whose name another had before
  table::Schema schema;
  LabelChoice label_choice = LabelChoice::kOption;  ///< of the label of the schema
  bool last_may_be_label = false;                   ///< as of LabelColumn
  bool finds_categories = false;  ///< the dictionaries of the schema are empty until the rows are read
  bool finds_classes = false;     ///< the label's fields are texts, and the schema's classes empty until then
  bool chose_classes = false;     ///< an option says so
  bool has_text_label() const { return finds_classes || !schema.classes.empty(); }
  std::vector<std::size_t> fields;  ///< position in the line of each column of the table: features, label, weight
  // For each column of the table:
  std::vector<std::optional<std::size_t>> forms;  ///< of its numbers, in number_forms(); unset: plain
  std::vector<DatePart> date_parts;
  std::vector<SampleTexts> sample_texts;
  std::vector<std::optional<bool>> holds_dates;  ///< whether the model that the rows are for learned dates
  // What options left to be found out:
  std::vector<std::string> found_categories;  ///< features
  std::vector<LeftOut> left_out;
  std::vector<std::string> doubts;  ///< of counts_texts, where columns would be refused else

  std::optional<std::size_t> label_field() const {
    return schema.label ? std::optional(fields[schema.features.size()]) : std::nullopt;
  }
};

/// Makes names differ as pandas does: a, a.1, a.2. Those that are another than before.
std::vector<CsvLayout::Renamed> rename_repeated(std::vector<std::string>& names);

/// Sets what is known of the columns of the table before the rows are read, by some of the rows.
void expect_forms(const std::vector<Fields>& rows, const MissingTokens& missing, const CsvOptions& options,
                  CsvLayout& layout);

/// Adds a feature behind the others: a part of the dates of feature `date`.
void add_date_part(std::size_t date, DatePart part, CsvLayout& layout);

/// Takes features, by place, out of the table because of their texts.
void leave_out_features(const std::set<std::size_t>& places, CsvLayout& layout);

/// Reads the first lines of `source`, whose folders give the values of `folders` to all its rows. Throws InputError,
/// with `name` for the file, if they do not fit the options.
CsvLayout find_layout(const ByteSource& source, const std::string& name, const CsvOptions& options,
                      const FolderValues& folders = {});

}  // namespace podere::io
