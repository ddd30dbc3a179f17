#include "podere/columns/write_arrays.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "podere/base/error.h"
#include "podere/columns/write_files.h"
#include "podere/columns/write_hdf5.h"
#include "podere/columns/write_npz.h"

namespace podere::columns {
namespace {

/// What the ending of a file stands for; no format: for what is written in none.
struct Ending {
  std::string_view ending;
  std::optional<ArraysFormat> format;
};

constexpr std::array<Ending, 9> kEndings = {{{".npz", ArraysFormat::kNpz},
                                             {".h5", ArraysFormat::kHdf5},
                                             {".hdf5", ArraysFormat::kHdf5},
                                             {".hdf", ArraysFormat::kHdf5},
                                             {".npy", {}},
                                             {".csv", {}},
                                             {".txt", {}},
                                             {".mat", {}},
                                             {".nc", {}}}};

}  // namespace

ArraysFormat format_of(const std::filesystem::path& path, std::optional<ArraysFormat> chosen) {
  const auto* const ending = std::ranges::find(kEndings, path.extension().string(), &Ending::ending);
  const bool is_folder = !path.empty() && (!path.has_filename() || std::filesystem::is_directory(path));
  bool fits = true;
  ArraysFormat format = chosen.value_or(ArraysFormat::kNpz);
  if (is_folder) {
    fits = chosen && is_of_folders(format);
  } else if (ending != kEndings.end()) {
    if (!chosen) format = ending->format.value_or(format);
    fits = ending->format == format;
  }
  if (!fits) {
    throw_input_error(
        "{}: several arrays are written: as FILE.npz (NumPy) or FILE.h5 (HDF5), or a file of each into FOLDER/ with "
        "--output-format npy or csv",
        path.string());
  }
  return format;
}

void write_arrays(ArraysFormat format, const std::filesystem::path& path, const WrittenArrays& written,
                  const comm::Communicator& comm, int n_threads) {
  switch (format) {
    case ArraysFormat::kNpz:
      return write_npz(path, written, comm);
    case ArraysFormat::kHdf5:
      return write_hdf5(path, written, comm);
    case ArraysFormat::kNpy:
      return write_npy_files(path, written, comm);
    case ArraysFormat::kCsv:
      return write_csv_files(path, written, comm, n_threads);
  }
}

}  // namespace podere::columns
