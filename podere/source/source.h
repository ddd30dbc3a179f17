// Where a job's rows come from.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/io/read_facts.h"
#include "podere/source/location.h"
#include "podere/source/reader.h"
#include "podere/source/source_spec.h"
#include "podere/table/row_source.h"
#include "podere/table/table.h"

namespace podere::source {

/// Whether the location is the path of a file. Throws InputError as parse_location.
bool is_path(const SourceSpec& spec);

/// The same source, seen from another working folder.
void make_absolute(SourceSpec& spec);

/// Whether the rows are as soon made again as read from a disk.
bool is_made_in_memory(const SourceSpec& spec);

/// Whether anything is chosen but rows and texts for missing values.
bool chooses_how_to_read(const SourceSpec& spec);

/// With the format of bytes, as rank 0 finds it, in place of kAnyFormat. Collective. Throws InputError on all ranks.
SourceSpec with_format(SourceSpec spec, const comm::Communicator& comm);

/// What the reader of a source that with_format has seen says of its columns; of a kept table nothing special. Local.
ColumnRules column_rules(const SourceSpec& spec);

/// Whether the reader of a source that with_format has seen has a field of SourceSpec, such as "categorical"; of a kept
/// table none. Local.
bool has_option(const SourceSpec& spec, std::string_view field);

/// Where else than at its location rows of a source may be that this process can read, such as labels. Local.
std::vector<std::string> other_files(const SourceSpec& spec);

/// The rows are the same while the versions of these are: the location, if there are bytes, and other_files.
std::vector<std::string> files_of(const SourceSpec& spec);

/// Loads the rows; each rank holds its rows_of() the table. If `needs_label` and no label is chosen, delimited text has
/// it where io::CsvOptions says. What was found in a file goes to `facts`, where wanted. Collective. Throws InputError
/// on all ranks, also for what is chosen that the reader does not have, and for a source without the labels that are
/// needed.
table::Table load(const SourceSpec& spec, bool needs_label, const comm::Communicator& comm, int n_threads,
                  io::ReadFacts* facts = nullptr);

/// The same rows, whose features are not held. Collective. Throws InputError on all ranks.
std::unique_ptr<table::RowSource> open(const SourceSpec& spec, bool needs_label, const comm::Communicator& comm,
                                       int n_threads, io::ReadFacts* facts = nullptr);

}  // namespace podere::source
