// Text for people: numbers, tables, small pictures.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "podere/base/json.h"

namespace podere::cli {

/// "12,000".
std::string with_commas(std::uint64_t n);
/// "0.12 s", "3 min 20 s", "2 h 5 min".
std::string duration(double seconds);
/// "528 MB".
std::string megabytes(std::uint64_t bytes);
/// Six significant digits; "-" for NaN.
std::string number(double value);
/// The same for a JSON number; "-" for null or nothing.
std::string number(const Json& value);

/// "validation loss" of "validation_loss".
std::string in_words(std::string name);
/// The name of a measure as people know it: "RMSE" of "root_mean_squared_error".
std::string measure_in_words(const std::string& name);

/// "▁▂▅█": one block per count, scaled to the largest; a space for none.
std::string bars(std::span<const std::uint64_t> counts);

/// The fact "label" of a job: "quality (column 11, by its name): 6 classes, 3, 4, 5, 6, 7, 8".
std::string label_text(const Json& label);

/// Columns as wide as their widest cell, two spaces between; the first column to the left, the others to the right,
/// or all to the left. The first row is the header unless it is empty.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header, bool all_left = false);
  void add(std::vector<std::string> row);
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  bool all_left_;
};

/// Lines of "name  value".
std::string facts_text(const std::vector<std::pair<std::string, Json>>& facts);

/// Numbers as people read them; "-" for null.
std::string value_text(const Json& value);

/// To standard output, or standard error. A JSON object as one line. A reader who has gone (head -1) has read enough:
/// returns false. Throws InputError for any other failure, such as a full disk.
bool print(const std::string& text, int descriptor = STDOUT_FILENO);
bool print_json(const Json& json, int descriptor = STDOUT_FILENO);
/// "podere: message" on one line of standard error.
void print_error(const std::string& message);
/// One line on standard error where `facts` have "unknown_categories": how many texts of which columns.
void warn_of_unknown_categories(const Json& facts);

}  // namespace podere::cli
