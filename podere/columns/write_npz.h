// Archives of NumPy that executors write side by side.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/linalg/tall_matrix.h"

namespace podere::columns {

/// An array of float64, the last index fastest.
struct NamedValues {
  std::string name;
  std::vector<std::uint64_t> shape;
  std::vector<double> values;  ///< [product of shape]
};

/// Writes an archive as numpy.savez does, which numpy.load opens: `arrays`, as rank 0 has them, then, unless it is
/// null, the matrix `rows` as `rows_name`, of which each rank writes what it holds. Into a file that all ranks see and
/// that is there, as of io::write_lines. Collective; throws on all ranks as base's write_into.
void write_npz(const std::filesystem::path& path, const std::vector<NamedValues>& arrays, const std::string& rows_name,
               const linalg::TallMatrix* rows, const comm::Communicator& comm);

}  // namespace podere::columns
