// HDF5 files that are written.
#pragma once

#include "podere/columns/hdf5_program/handle.h"

namespace podere::columns::hdf5 {

/// What the library returns where it fails only if there is no room.
template <typename T>
T written(T result) {
  if (result < 0) refuse("cannot be written: the disk is full, or the file is gone");
  return result;
}

/// The HDF5 file `path`, new and empty, whatever was there. The same calls make the same bytes. Throws Refusal.
Handle new_file(const char* path);

}  // namespace podere::columns::hdf5
