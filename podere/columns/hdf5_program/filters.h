// Codecs that Python's packages for HDF5 bring along, and that its library does not have.
#pragma once

namespace podere::columns::hdf5 {

/// Makes LZF (h5py), Blosc (PyTables), LZ4 and Zstandard known to the library, to read.
void register_filters();

}  // namespace podere::columns::hdf5
