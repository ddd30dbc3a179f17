// Makes room for arrays whose values others write.
#pragma once

#include <iosfwd>
#include <string>

namespace podere::columns::hdf5 {

/// Writes the HDF5 file `path`, which may be there and then is written over, with datasets of float64 whose values are
/// not set: each lies in one piece, so any process may write them by their place. `lines` has one line of JSON,
///
///   [["s", [20]], ["U", [1000, 20]]]     names and shapes
///
/// and the result is another, with the byte at which the values of each begin: [2048, 2208]. The last index is the
/// fastest, the lowest byte the first. The same line makes the same bytes. Throws Refusal.
std::string make_arrays(const char* path, std::istream& lines);

}  // namespace podere::columns::hdf5
