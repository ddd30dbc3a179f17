// Files of columns beside each other, as one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "podere/columns/column_file.h"

namespace podere::columns {

/// A file, and what its columns are called beside others.
struct FilePart {
  std::unique_ptr<ColumnFile> file;
  std::vector<std::string> names;  ///< [columns of the file]
  std::string left_out = {};       ///< of all columns, as of Column
};

/// The columns of all parts, of which there is one at least. All have equally many rows.
std::unique_ptr<ColumnFile> side_by_side(std::string name, std::vector<FilePart> parts, FileNotes notes = {});

/// The columns of a file and, as kLabelsName, the only one of another. Throws InputError if there are more, if they
/// have not equally many rows, or if the file has a column of that name.
std::unique_ptr<ColumnFile> with_labels(std::unique_ptr<ColumnFile> file, std::unique_ptr<ColumnFile> labels);

inline constexpr const char* kLabelsName = "label";

}  // namespace podere::columns
