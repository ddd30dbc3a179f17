// Arrays with names in a file, as one table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "podere/columns/column_file.h"
#include "podere/columns/npy_array.h"

namespace podere::columns {

/// What an array is about, as far as a file says it.
struct ArrayMeaning {
  bool is_coordinate = false;  ///< of other arrays: its columns are left out where there are others
  std::string units = {};
  std::vector<std::pair<std::string, std::string>> dimensions = {};  ///< name, and words for where its values lie
};

/// What is found in an archive of NumPy or an HDF5 file, until it is one file. Arrays of equally many rows are side by
/// side: one of one dimension is a column of its name, y; one with fields has the names of these; another has columns
/// X0, X1, ... But if only one has more dimensions, its columns have names as NpyArray has them if they are more than
/// two, or if it is called X, data, features, arr_0, X_train or X_test, X in either case; and if there is an array of
/// texts that is called columns, feature_names or names, as many as a matrix has columns, the names are those. What
/// cannot be beside the others is a column of Kind::kOther, by its name.
class NamedArrays {
 public:
  /// `key`: of the group of the arrays; empty: none.
  explicit NamedArrays(std::string location, std::string key = {})
      : location_(std::move(location)), key_(std::move(key)) {}

  void add(std::string name, std::unique_ptr<NpyArray> array, ArrayMeaning meaning = {}) {
    arrays_.push_back({std::move(name), std::move(array), std::move(meaning)});
  }
  /// What no table can have, and why.
  void add_other(std::string name, std::string why, std::string left_out = {});
  /// Throws InputError if there is no array.
  std::unique_ptr<ColumnFile> as_file() &&;

 private:
  struct Named {
    std::string name;
    std::unique_ptr<NpyArray> array;
    ArrayMeaning meaning;
  };

  static bool is_wide(const Named& array) { return array.array->n_dimensions() > 1 && !array.meaning.is_coordinate; }
  std::ptrdiff_t count_wide() const;
  void move_names();
  void move_others();
  std::vector<std::string> names_of(const Named& array, bool is_only_wide) const;
  FileNotes notes() const;
  std::string line_of_shape() const;

  std::string location_, key_;
  std::vector<Named> arrays_;
  std::vector<Column> others_;
  std::vector<std::string> column_names_;
};

}  // namespace podere::columns
