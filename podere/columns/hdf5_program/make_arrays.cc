#include "podere/columns/hdf5_program/make_arrays.h"

#include <istream>
#include <nlohmann/json.hpp>
#include <vector>

#include "podere/columns/hdf5_program/new_file.h"

namespace podere::columns::hdf5 {
namespace {

haddr_t make_array(hid_t file, const std::string& name, const std::vector<hsize_t>& shape) {
  const Handle space(written(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr)), H5Sclose);
  const Handle made(written(H5Pcreate(H5P_DATASET_CREATE)), H5Pclose);
  H5Pset_obj_track_times(made.get(), false);
  written(H5Pset_layout(made.get(), H5D_CONTIGUOUS));
  written(H5Pset_alloc_time(made.get(), H5D_ALLOC_TIME_EARLY));
  written(H5Pset_fill_time(made.get(), H5D_FILL_TIME_NEVER));
  const Handle dataset(
      written(H5Dcreate2(file, name.c_str(), H5T_IEEE_F64LE, space.get(), H5P_DEFAULT, made.get(), H5P_DEFAULT)),
      H5Dclose);
  const haddr_t begin = H5Dget_offset(dataset.get());
  if (begin == HADDR_UNDEF) refuse("cannot be written: there is no room for {}", name);
  return begin;
}

}  // namespace

std::string make_arrays(const char* path, std::istream& lines) {
  nlohmann::json begins = nlohmann::json::array();
  const nlohmann::json arrays = nlohmann::json::parse(lines);
  const Handle file = new_file(path);
  for (const auto& array : arrays) {
    begins.push_back(make_array(file.get(), array.at(0).get<std::string>(), array.at(1).get<std::vector<hsize_t>>()));
  }
  written(H5Fflush(file.get(), H5F_SCOPE_GLOBAL));
  return begins.dump();
}

}  // namespace podere::columns::hdf5
