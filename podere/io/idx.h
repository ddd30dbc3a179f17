// Reading IDX files, the format of MNIST, into a Table.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/io/read_facts.h"
#include "podere/io/row_selection.h"
#include "podere/table/row_source.h"
#include "podere/table/table.h"

namespace podere::io {

struct IdxOptions {
  std::string labels;                ///< a file of one dimension, with the label of each row; empty: there are none
  std::vector<std::string> columns;  ///< features to keep, by name, in this order; empty: all
  RowSelection rows;                 ///< of the file, that become the table
};

/// Reads an IDX file, plain or gzip: rows are its first dimension, all others are features. Those of images are called
/// pixel1, pixel2, ... (as OpenML has them), those of an array of one or two dimensions f0, f1, .... The label is
/// called "label". NaN is a missing value, infinity an error. Whole numbers beyond 2^24 become
/// the nearest float32.
///
/// Collective: every rank receives its rows_of() the table, and reads the bytes of its own rows; of a gzip file every
/// rank goes through all. Memory: the table, and per thread half a megabyte or a row.
///
/// Throws InputError, on all ranks: as IdxFile; for labels that are not as many as the rows; for rows or columns that
/// are not there; for a table beyond the memory of a host.
table::Table read_idx(const std::string& location, const IdxOptions& options, const comm::Communicator& comm,
                      int n_threads, ReadFacts* facts = nullptr);

/// The same rows without holding their features: the file is read again each time they are needed.
/// Collective; throws as read_idx.
std::unique_ptr<table::RowSource> open_idx(const std::string& location, const IdxOptions& options,
                                           const comm::Communicator& comm, int n_threads,
                                           std::size_t window_bytes = table::kWindowBytes, ReadFacts* facts = nullptr);

/// Where MNIST's naming has the labels of a file whose name has "images" in it: train-images-idx3-ubyte.gz has them in
/// train-labels-idx1-ubyte.gz, or in that without .gz. The likelier first; empty for other names.
std::vector<std::filesystem::path> label_files_of(const std::filesystem::path& path);

}  // namespace podere::io
