// Writes what was found about pictures.
#pragma once

#include <iosfwd>

namespace podere::columns::hdf5 {

/// Writes the HDF5 file `path`, which may be there and then is written over, from lines of JSON: a head, then one for
/// each picture. podere/columns/hdf5_labels.h says what is in them. The same lines make the same bytes. Throws Refusal.
void write_labels(const char* path, std::istream& lines);

}  // namespace podere::columns::hdf5
