// The files that a location means: one, those of a folder, or those that fit a pattern.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace podere::io {

/// Names, and the values that folders of these names give all rows of a file: those of "year=2026/month=1/x.csv" have
/// year 2026 and month 1. Hive, Spark and pyarrow write such. Empty: missing.
using FolderValues = std::vector<std::pair<std::string, std::string>>;

struct ListedFile {
  std::string path;
  FolderValues values;
};

/// Whether a location may mean several files: a folder, or a pattern with *, ? or [...] that is not the name of a file.
bool may_be_many(const std::string& location);

/// The files, by their paths in the order of bytes: of a folder all in and below it but those whose names, or those of
/// whose folders, begin with . or _; of a pattern those that fit, and those of folders that do. Only folders below the
/// folder or below the first of the pattern give values. A location of one file, there or not, is itself. Throws
/// InputError if there are none, or if folders do not give values to the same names.
std::vector<ListedFile> list_files(const std::string& location);

/// Lets this process have so many files open at once, besides others. Throws InputError, with `name`, if it may not.
void allow_open_files(const std::string& name, std::size_t n);

}  // namespace podere::io
