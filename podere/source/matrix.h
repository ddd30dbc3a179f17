// The rows of a source as a matrix.
#pragma once

#include "podere/columns/matrix.h"
#include "podere/source/source.h"

namespace podere::source {

/// The features of a table, widened. Throws InputError, on all ranks, for categories and dates, which are no
/// magnitudes, and where the matrix would take more memory than there is. Collective.
columns::Matrix matrix_of(const table::Table& table, const std::string& name, const comm::Communicator& comm,
                          int n_threads);

/// Loads all columns but the label as a matrix: of files whose numbers can be read as float64 as these, else by way of
/// a table of float32, which the matrix's `type` says. Collective. Throws InputError on all ranks, also for what is
/// chosen that a matrix does not have.
columns::Matrix load_matrix(const SourceSpec& spec, const comm::Communicator& comm, int n_threads,
                            io::ReadFacts* facts = nullptr);

}  // namespace podere::source
