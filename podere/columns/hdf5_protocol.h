// What podere-hdf5, the program that reads HDF5 files, and those who start it say to each other.
#pragma once

#include <cstdint>

namespace podere::columns {

/// podere-hdf5 FILE KEY answers once without being asked, with what is in the file: JSON text,
///
///     {"arrays": [{"name": "X", "shape": [1000, 20], "fortran": false, "chunk_rows": 100, "element_bytes": 8,
///                  "fields": [{"name": "", "type": "<f8", "offset": 0, "index": false}],
///                  "coordinate": false, "units": "K",
///                  "dimensions": [{"name": "time", "values": ""}, {"name": "lat", "values": "from -60 to 60"}]}],
///      "others": [{"name": "n", "why": "holds a single value", "group": false, "coordinate": false}]}
///
/// and then each request that comes through its standard input with bytes of an array, in C order, until that ends. A
/// type is one of NumPy or, of what no table can have, words for it. A name is empty if the array has no fields.
/// There are no dimensions where the file has no names for them.
struct Hdf5Request {
  std::uint64_t array;  ///< its place in the list
  std::uint64_t first_byte;
  std::uint64_t n_bytes;
};

/// Goes before the bytes of an answer; or before what is wrong, in words that follow the name of the file.
struct Hdf5Answer {
  std::uint64_t is_refused;
  std::uint64_t n_bytes;
};

/// Computes for this long on one answer, then ends by SIGPROF: a damaged file can lead the library around in circles.
inline constexpr int kHdf5SecondsPerAnswer = 120;

/// The most bytes of an answer.
inline constexpr std::uint64_t kHdf5MostAnswerBytes = std::uint64_t{1} << 30;

/// Takes no more memory than this: a damaged file can ask for any size of chunk.
inline constexpr std::uint64_t kHdf5MemoryBytes = std::uint64_t{8} << 30;

}  // namespace podere::columns
