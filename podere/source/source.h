// Where a job's rows come from.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/io/csv.h"
#include "podere/io/file_format.h"
#include "podere/io/remote_arrays.h"
#include "podere/table/row_source.h"
#include "podere/table/table.h"

namespace podere::source {

/// A file of rows, events that the executors make themselves, or arrays of another process.
struct SourceSpec {
  std::string location;  ///< a path, or "collider:N" or "collider:N?seed=S"
  /// Of a collider source only first_row and last_row apply; of IDX and libsvm files columns too, of the latter
  /// missing.
  io::CsvOptions csv;
  /// In place of a file: arrays of another process. `location` is only what messages call them; csv does not apply.
  std::optional<io::RemoteArrays> arrays = {};
  /// The label of each class, in the order of the classes, for a job that wants their numbers: a label counts as its
  /// place here. Empty: as it is. Not where a table is loaded.
  std::vector<double> classes = {};
  io::FileFormat format = io::FileFormat::kAuto;  ///< of the file
  std::string labels =
      {};  ///< of an IDX file: the file of its labels; empty: one of io::label_files_of, if it is there
  std::optional<std::uint64_t> n_features = {};  ///< of a libsvm file: as of io::LibsvmOptions
  bool zero_based = false;                       ///< the same

  static void visit_fields(auto& self, auto&& visit) {
    visit("location", self.location);
    visit("label", self.csv.label);
    visit("weight", self.csv.weight);
    visit("columns", self.csv.columns);
    visit("drop", self.csv.drop);
    visit("categorical", self.csv.categorical);
    visit("delimiter", self.csv.delimiter);
    visit("header", self.csv.header);
    visit("missing", self.csv.missing);
    visit("first_row", self.csv.first_row);
    visit("last_row", self.csv.last_row);
    visit("arrays", self.arrays);
    visit("classes", self.classes);
    visit("format", self.format);
    visit("labels", self.labels);
    visit("n_features", self.n_features);
    visit("zero_based", self.zero_based);
  }
};

/// What "collider:N?seed=S" says; nothing for a path. Throws InputError for a text that begins with "collider:" but
/// goes on otherwise.
struct ColliderSource {
  std::uint64_t n_events = 0;
  std::uint64_t seed = 0;
  bool operator==(const ColliderSource&) const = default;
};
std::optional<ColliderSource> parse_collider(const std::string& location);

/// The name in "table:NAME", which stands for a table that executors keep; nothing for other locations.
std::optional<std::string> kept_name(const std::string& location);

/// The same source, seen from another working folder.
void make_absolute(SourceSpec& spec);

/// Whether the rows are as soon made again as read from a disk.
bool is_made_in_memory(const SourceSpec& spec);

/// Whether anything is chosen but rows and texts for missing values.
bool chooses_how_to_read(const SourceSpec& spec);

/// With the format of a file, as rank 0 finds it, in place of kAuto. Collective. Throws InputError on all ranks.
SourceSpec with_format(SourceSpec spec, const comm::Communicator& comm);

/// Where the labels of an IDX file that this process can read may be: in the file that is given, or else in the first
/// of io::label_files_of that is there. Empty for all other sources. Local.
std::vector<std::string> label_files_of(const SourceSpec& spec);

/// Loads the rows; each rank holds its rows_of() the table. If `needs_label`, delimited text whose label was not chosen
/// has it where io::CsvOptions says. What was found in delimited text goes to `facts`, where wanted; of a libsvm file
/// spec.csv.coded_as says what the rows are applied to. Collective. Throws InputError on all ranks, also for what is
/// chosen that the format does not have, and for an IDX file without the labels that are needed.
table::Table load(const SourceSpec& spec, bool needs_label, const comm::Communicator& comm, int n_threads,
                  io::ReadFacts* facts = nullptr);

/// The same rows, with a label, whose features are not held. Collective. Throws InputError on all ranks.
std::unique_ptr<table::RowSource> open(const SourceSpec& spec, const comm::Communicator& comm, int n_threads,
                                       io::ReadFacts* facts = nullptr);

}  // namespace podere::source
