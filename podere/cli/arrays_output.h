// Arrays that executors write: which options say where, and how.
#pragma once

#include <optional>
#include <string>

#include "podere/base/atomic_folder.h"
#include "podere/cli/arguments.h"
#include "podere/cli/shared_file.h"
#include "podere/columns/write_arrays.h"

namespace podere::cli {

struct ArraysOptions {
  std::string path;  ///< empty: nothing is written
  std::optional<columns::ArraysFormat> format;
};

/// -o and --output-format. `arrays` says what is written.
void add_arrays_options(CLI::App& app, ArraysOptions& options, const std::string& arrays);

/// The file or the folder that they ask for, which appears with commit() whole or not at all.
class ArraysOutput {
 public:
  /// Throws as columns::format_of, AtomicFile and AtomicFolder.
  explicit ArraysOutput(const ArraysOptions& options);

  columns::ArraysFormat format() const { return format_; }
  /// Where executors write; empty where nothing is wanted.
  std::string path() const;
  void commit();

 private:
  columns::ArraysFormat format_;
  std::optional<SharedFile> file_;
  std::optional<AtomicFolder> folder_;
};

}  // namespace podere::cli
