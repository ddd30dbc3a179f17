#include "podere/columns/write_arrays.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "podere/base/error.h"
#include "podere/columns/write_hdf5.h"
#include "podere/columns/write_npz.h"

namespace podere::columns {

ArraysFormat format_of(const std::filesystem::path& path) {
  constexpr std::array<std::string_view, 3> kHdf5 = {".h5", ".hdf5", ".hdf"};
  constexpr std::array<std::string_view, 4> kOthers = {".npy", ".csv", ".txt", ".mat"};
  const std::string ending = path.extension().string();
  if (std::ranges::find(kOthers, ending) != kOthers.end()) {
    throw_input_error("{}: several arrays are written, as FILE.npz (NumPy) or FILE.h5 (HDF5), and not as {}",
                      path.string(), ending);
  }
  return std::ranges::find(kHdf5, ending) != kHdf5.end() ? ArraysFormat::kHdf5 : ArraysFormat::kNpz;
}

void write_arrays(ArraysFormat format, const std::filesystem::path& path, const WrittenArrays& written,
                  const comm::Communicator& comm) {
  (format == ArraysFormat::kHdf5 ? write_hdf5 : write_npz)(path, written, comm);
}

}  // namespace podere::columns
