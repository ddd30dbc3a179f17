// Headers of NumPy files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "podere/columns/npy_type.h"
#include "podere/io/byte_source.h"

namespace podere::columns {

/// What a NumPy file says of its array, in a Python literal behind its first bytes:
///
///     \x93NUMPY | 1 0 | length: 2 bytes, little-endian | {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
///
/// Versions 2 and 3 have 4 bytes for the length; the text of 3 is UTF-8, of the others Latin-1.
/// Source: NumPy Enhancement Proposal 1, and numpy.lib.format.
struct NpyHeader {
  struct Field {
    std::string name;  ///< empty of an array without fields
    NpyType type;
    std::size_t offset = 0;     ///< in the bytes of an element
    std::string left_out = {};  ///< as of Column
  };
  std::vector<Field> fields;  ///< but for padding; of an array without fields one
  bool has_fields = false;
  std::uint64_t element_bytes = 0;
  bool is_fortran = false;           ///< the first index varies fastest
  std::vector<std::uint64_t> shape;  ///< at least one dimension
  std::uint64_t begin_bytes = 0;     ///< of the file, before the array
  std::uint64_t values_per_row = 1;  ///< elements, of all dimensions but the first
  std::uint64_t row_bytes() const { return element_bytes * values_per_row; }
};

/// Reads a header from the begin of a file of `n_bytes`, if that is known. Throws InputError, with `name`, for what is
/// none, for objects (which are pickled), and for rows of more than kMostNpyRowBytes.
NpyHeader read_npy_header(const std::string& name, io::ByteCursor& cursor, std::optional<std::uint64_t> n_bytes);

/// The header of an array of float64, the last index fastest, in version 1.0: values begin at a multiple of 64 bytes.
std::string npy_header(const std::vector<std::uint64_t>& shape);

}  // namespace podere::columns
