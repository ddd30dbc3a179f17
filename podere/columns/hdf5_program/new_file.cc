#include "podere/columns/hdf5_program/new_file.h"

#include <cstdlib>

namespace podere::columns::hdf5 {

Handle new_file(const char* path) {
  setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const Handle made(written(H5Pcreate(H5P_FILE_CREATE)), H5Pclose);
  H5Pset_obj_track_times(made.get(), false);
  return Handle(written(H5Fcreate(path, H5F_ACC_TRUNC, made.get(), H5P_DEFAULT)), H5Fclose);
}

}  // namespace podere::columns::hdf5
