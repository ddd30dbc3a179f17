// Files of columns to a matrix of float64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "podere/columns/column_rows.h"
#include "podere/io/row_selection.h"
#include "podere/linalg/tall_matrix.h"

namespace podere::columns {

/// Which columns and rows of a file make a matrix. By name, or by place from 0.
struct MatrixChoice {
  std::vector<std::string> columns;  ///< in this order; empty: all
  std::vector<std::string> drop;     ///< not with `columns`
  io::RowSelection rows;
};

/// A matrix, and what its columns are called.
struct Matrix {
  linalg::TallMatrix values;
  std::vector<std::string> names;          ///< [columns]
  std::string type;                        ///< of the values in the file: "float64", "int16"; "several types"
  std::vector<io::LeftOut> left_out = {};  ///< columns that no option leaves out
  std::vector<std::string> notes = {};     ///< what the file says beyond its columns
};

/// Throws InputError, on all ranks, where a matrix would take more memory than there is. Collective, as
/// io::check_memory.
void check_matrix_room(const std::string& name, std::uint64_t n_rows_here, std::size_t n_columns,
                       const comm::Communicator& comm);

/// Reads columns of numbers and booleans of a file with gives_float64(), such as NPY, NPZ and HDF5, as the nearest
/// float64; a missing value is NaN. Collective: every rank receives its rows_of() the matrix. Memory: the matrix, and
/// per thread a group of rows. Throws InputError, the same one on all ranks, with file, column and row, also for
/// columns that are chosen and are of another kind.
Matrix read_matrix(const Open& open, const MatrixChoice& choice, const comm::Communicator& comm, int n_threads);

}  // namespace podere::columns
