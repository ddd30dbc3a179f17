// Files of arrays that executors write side by side.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "podere/base/enum_names.h"
#include "podere/comm/communicator.h"
#include "podere/linalg/tall_matrix.h"

namespace podere::columns {

/// An array of float64, the last index fastest.
struct NamedValues {
  std::string name;
  std::vector<std::uint64_t> shape;
  std::vector<double> values;  ///< [product of shape]
  // What CSV has beside the values: the name of each row, and of each column. Empty: none, and NAME1, NAME2, ...
  std::vector<std::string> row_names = {};
  std::vector<std::string> column_names = {};
};

/// The bytes of values as they lie in memory, and in files on machines that have the lowest byte first.
inline std::string_view value_bytes(std::span<const double> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

/// What a file holds: arrays that rank 0 has, and one matrix whose rows are spread over all ranks.
struct WrittenArrays {
  std::vector<NamedValues> arrays;  ///< as rank 0 has them
  std::string rows_name;
  const linalg::TallRows* rows;  ///< null: there is none
};

/// kNpz: an archive as numpy.savez writes it, which numpy.load opens. kHdf5: datasets at the top of an HDF5 file. kNpy,
/// kCsv: a folder with a file for each array, NAME.npy or NAME.csv.
enum class ArraysFormat { kNpz, kHdf5, kNpy, kCsv };
constexpr EnumNames<4> names_of(ArraysFormat) { return {"output-format", {"npz", "hdf5", "npy", "csv"}}; }
using podere::to_string;

/// Whether it makes a folder.
constexpr bool is_of_folders(ArraysFormat format) {
  return format == ArraysFormat::kNpy || format == ArraysFormat::kCsv;
}

/// The format of what is written to `path`: the one that is chosen, else the one that the ending of its name stands
/// for, HDF5 for .h5, .hdf5 and .hdf, else NPZ. Throws InputError where ending and choice do not fit together, for
/// endings of what holds one array or none (.npy, .csv, .txt, .mat, .nc), and for a folder where no format of folders
/// is chosen.
ArraysFormat format_of(const std::filesystem::path& path, std::optional<ArraysFormat> chosen = {});

/// Writes into a file, or folder, that is there, and that all ranks can write to. Each rank writes the rows that it
/// holds: nothing is gathered. The same values make the same bytes on any number of ranks. Collective; throws on all
/// ranks as base's write_into.
void write_arrays(ArraysFormat format, const std::filesystem::path& path, const WrittenArrays& written,
                  const comm::Communicator& comm, int n_threads = 1);

}  // namespace podere::columns
