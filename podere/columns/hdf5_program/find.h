// Which arrays of an HDF5 file make a table.
#pragma once

#include <string>
#include <vector>

#include "podere/columns/hdf5_program/array.h"

namespace podere::columns::hdf5 {

struct Contents {
  enum class Use { kNone, kGroup, kCoordinate };
  /// What is there and not among the arrays.
  struct Other {
    std::string name;
    std::string why;
    Use use = Use::kNone;  ///< a group of arrays, beside those that were chosen without a key; coordinates of arrays
  };
  std::vector<Array> arrays;
  std::vector<Other> others;
};

/// What the `key` names: a group, of which all datasets are taken, a dataset, or a data frame of pandas. Empty: the
/// only one there is; or the outermost group, if that has datasets. Throws Refusal, which names those that there are.
Contents find_arrays(hid_t file, const std::string& key);

}  // namespace podere::columns::hdf5
