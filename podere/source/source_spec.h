// What a job says of its rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "podere/columns/raw_file.h"
#include "podere/io/missing_tokens.h"
#include "podere/io/remote_arrays.h"
#include "podere/io/row_selection.h"
#include "podere/table/table.h"

namespace podere::source {

inline constexpr const char* kAnyFormat = "auto";

/// Bytes of rows, events that the executors make themselves, or arrays of another process.
struct SourceSpec {
  std::string location;        ///< as of parse_location
  io::RowSelection rows = {};  ///< of arrays all are read
  // How to read. Each reader has some of these, and refuses the others where they are chosen.
  std::optional<std::string> label = {};                          ///< column of the label
  std::optional<std::string> weight = {};                         ///< column of the weight
  std::vector<std::string> columns = {};                          ///< features to keep, in this order; empty: all
  std::vector<std::string> drop = {};                             ///< columns that are left out; not with `columns`
  std::vector<std::string> categorical = {};                      ///< columns whose fields are texts
  bool finds_categories = false;                                  ///< as of io::CsvOptions
  std::optional<char> decimal = {};                               ///< as of io::CsvOptions
  bool drop_unlabeled = false;                                    ///< as of io::CsvOptions
  bool date_parts = false;                                        ///< as of io::CsvOptions
  std::optional<bool> day_first = {};                             ///< as of io::CsvOptions
  std::optional<std::string> positive = {};                       ///< as of io::CsvOptions
  std::optional<char> delimiter = {};                             ///< as of io::CsvOptions
  std::optional<char> comment = {};                               ///< as of io::CsvOptions
  std::uint64_t skip = 0;                                         ///< as of io::CsvOptions
  std::optional<bool> header = {};                                ///< as of io::CsvOptions
  std::vector<std::string> names = {};                            ///< as of io::CsvOptions
  std::vector<std::string> missing = io::usual_missing_tokens();  ///< read as NaN
  std::string format = kAnyFormat;                                ///< of bytes: the name of a reader, or kAnyFormat
  std::string labels = {};                       ///< a file of the labels; empty: one that the format's naming has
  std::string key = {};                          ///< of a file with several tables: which; empty: the only one
  std::optional<std::uint64_t> n_features = {};  ///< as of io::LibsvmOptions
  bool zero_based = false;                       ///< as of io::LibsvmOptions
  // Of a file of numbers alone, as of columns::RawLayout.
  std::optional<columns::RawType> raw_type = {};
  std::optional<std::uint64_t> raw_columns = {};
  bool big_endian = false;
  std::uint64_t skip_bytes = 0;
  /// In place of what is at the location, which is then only what messages call them.
  std::optional<io::RemoteArrays> arrays = {};
  /// The label of each class, in the order of the classes, for a job that wants their numbers: a label counts as its
  /// place here. Empty: as it is. Not where a table is loaded.
  std::vector<double> classes = {};

  // What executors add, and jobs do not say.
  std::optional<table::Schema> coded_as = {};  ///< of the model that the rows are applied to, as of io::CsvOptions
  bool counts_texts = false;                   ///< as of io::CsvOptions
  bool numbers_only = false;                   ///< as of io::CsvOptions

  static void visit_fields(auto& self, auto&& visit) {
    visit("location", self.location);
    visit("label", self.label);
    visit("weight", self.weight);
    visit("columns", self.columns);
    visit("drop", self.drop);
    visit("categorical", self.categorical);
    visit("finds_categories", self.finds_categories);
    visit("decimal", self.decimal);
    visit("drop_unlabeled", self.drop_unlabeled);
    visit("date_parts", self.date_parts);
    visit("day_first", self.day_first);
    visit("positive", self.positive);
    visit("delimiter", self.delimiter);
    visit("comment", self.comment);
    visit("skip", self.skip);
    visit("header", self.header);
    visit("names", self.names);
    visit("missing", self.missing);
    visit("first_row", self.rows.first_row);
    visit("last_row", self.rows.last_row);
    visit("arrays", self.arrays);
    visit("classes", self.classes);
    visit("format", self.format);
    visit("labels", self.labels);
    visit("key", self.key);
    visit("n_features", self.n_features);
    visit("zero_based", self.zero_based);
    visit("raw_type", self.raw_type);
    visit("raw_columns", self.raw_columns);
    visit("big_endian", self.big_endian);
    visit("skip_bytes", self.skip_bytes);
  }
};

/// The names of the fields that say how to read and that have another value than their default.
std::vector<std::string> choices_of(const SourceSpec& spec);

/// "n_features" as users know it: "features"; "zero_based": "zero-based".
std::string option_name(const std::string& field);

}  // namespace podere::source
