// A way to make a table of a source: what the table of readers says of each.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "podere/columns/column_file.h"
#include "podere/comm/communicator.h"
#include "podere/io/read_facts.h"
#include "podere/source/source_spec.h"
#include "podere/table/row_source.h"
#include "podere/table/table.h"

namespace podere::source {

/// What a reader has to read by.
struct Reading {
  const SourceSpec& spec;
  bool needs_label;
  const comm::Communicator& comm;
  int n_threads;
  io::ReadFacts* facts;  ///< for what was found and had not been chosen; null: not wanted
};

/// What a reader makes a table of.
enum class Reads {
  kBytes,   ///< what lies at a location: the reader is a file format
  kScheme,  ///< locations "name:...", and no bytes
  kArrays,  ///< spec.arrays
};

/// The label and the names of columns, for those who compare them with a model's.
struct ColumnRules {
  bool labels_have_names = true;    ///< else the label stands at a place of its own, and its name means nothing
  bool features_have_names = true;  ///< else they are known by their places
  bool zeros_are_left_out = false;  ///< so that more or fewer features than the model has are as good
};

struct Reader {
  std::string_view name;  ///< as --format has it, or the scheme
  Reads reads = Reads::kBytes;
  // A file is of this format if `is_format`, or else if it begins with one of `first_bytes` once it is unpacked, or
  // else by its name, with or without .gz behind.
  bool (*is_format)(const std::string& location) = nullptr;
  std::vector<std::string_view> first_bytes = {};
  std::vector<std::string_view> suffixes = {};
  /// Fields of SourceSpec that it has, besides "format" of bytes.
  std::vector<std::string_view> options;
  std::string_view reason;  ///< why it has no others: "{location}: label cannot be chosen: {reason}"
  ColumnRules columns = {};
  bool takes_many = false;  ///< whether a location may be a folder or a pattern, as of io::list_files
  /// Loads the rows; each rank holds its rows_of() the table. Collective. Throws InputError on all ranks.
  table::Table (*load)(const Reading& reading);
  /// The same rows, with a label, whose features are not held. Collective. Throws InputError on all ranks.
  std::unique_ptr<table::RowSource> (*open)(const Reading& reading);
  /// The file itself, whose columns make a matrix; null: a table has to be made of it first. Local. Throws InputError.
  std::unique_ptr<columns::ColumnFile> (*open_file)(const SourceSpec& spec) = nullptr;
  /// Where else bytes of this source may be if they are there, the likeliest first; null: nowhere. Local.
  std::vector<std::string> (*other_files)(const SourceSpec& spec) = nullptr;
  /// Of a scheme whose locations name files: makes these paths absolute. Local.
  void (*make_absolute)(SourceSpec& spec) = nullptr;
};

}  // namespace podere::source
