#include "podere/source/readers.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/image/first_bytes.h"
#include "podere/image/picture_store.h"
#include "podere/io/byte_source.h"
#include "podere/io/file_list.h"
#include "podere/source/arrays_reader.h"
#include "podere/source/collider_reader.h"
#include "podere/source/column_readers.h"
#include "podere/source/csv_reader.h"
#include "podere/source/idx_reader.h"
#include "podere/source/images_reader.h"
#include "podere/source/libsvm_reader.h"
#include "podere/source/location.h"
#include "podere/source/sem_reader.h"

namespace podere::source {
namespace {

std::string read_begin(const std::string& location) {
  std::array<char, 16> bytes{};
  return std::string(bytes.data(), io::open_bytes(location)->cursor_at(0)->read(bytes));
}

std::string extension_of(const std::filesystem::path& path) {
  return (path.extension() == ".gz" ? path.stem() : path).extension().string();
}

std::vector<std::string> names_of(std::span<const Reader> known) {
  std::vector<std::string> names = {kAnyFormat};
  for (const Reader& reader : known) {
    if (reader.reads == Reads::kBytes) names.emplace_back(reader.name);
  }
  return names;
}

/// Nothing if there is none.
template <typename Condition>
const Reader* find_first(std::span<const Reader> known, Reads reads, const Condition& fits) {
  const auto found =
      std::ranges::find_if(known, [&](const Reader& reader) { return reader.reads == reads && fits(reader); });
  return found == known.end() ? nullptr : &*found;
}

/// Throws InputError for the first of the files, or the first that is called as pictures are, if it is a picture.
void refuse_picture(const std::string& all, const std::vector<io::ListedFile>& files) {
  const auto check = [&](const std::string& file) {
    const std::string begin = read_begin(file);
    if (!image::begins_as_picture({reinterpret_cast<const std::uint8_t*>(begin.data()), begin.size()})) return;
    throw_input_error(
        "{0}: is a picture; a table of pictures is 'images:{1}?size=32', or what a network makes of them, "
        "'images:{1}?model=FILE.onnx&layer=NAME'",
        file, all);
  };
  check(files.front().path);
  const auto named =
      std::ranges::find_if(files, [](const io::ListedFile& file) { return image::has_picture_name(file.path); });
  if (named != files.end()) check(named->path);
}

/// Throws InputError for gridded data of formats that are not read, with the command that makes NetCDF 4 of it.
void refuse_grid(const std::string& location, std::string_view begin) {
  if (begin.starts_with("CDF\x01") || begin.starts_with("CDF\x02") || begin.starts_with("CDF\x05")) {
    throw_input_error("{}: is NetCDF 3; make NetCDF 4 of it: nccopy -k nc4 IN.nc OUT.nc", location);
  }
  if (begin.starts_with("GRIB")) {
    throw_input_error("{}: is GRIB; make NetCDF 4 of it: cdo -f nc4 copy IN OUT.nc", location);
  }
}

void refuse_zarr(const std::string& location) {
  const std::filesystem::path folder(location);
  std::error_code unknown;
  for (const char* const name : {".zgroup", ".zattrs", ".zarray", "zarr.json"}) {
    if (!std::filesystem::exists(folder / name, unknown)) continue;
    throw_input_error("{}: is Zarr; make NetCDF 4 of it in Python: xarray.open_zarr(FOLDER).to_netcdf(FILE)", location);
  }
}

/// Of many files that of the first.
const Reader& find_format(const std::string& all, std::span<const Reader> known) {
  refuse_zarr(all);
  const std::vector<io::ListedFile> files = io::list_files(all);
  const std::string& location = files.front().path;
  const auto* by_itself = find_first(known, Reads::kBytes, [&](const Reader& reader) {
    return reader.is_format != nullptr && reader.is_format(location);
  });
  if (by_itself != nullptr) return *by_itself;
  const std::string begin = read_begin(location);
  const auto* by_bytes = find_first(known, Reads::kBytes, [&](const Reader& reader) {
    return std::ranges::any_of(reader.first_bytes, [&](std::string_view first) { return begin.starts_with(first); });
  });
  if (by_bytes != nullptr) return *by_bytes;
  refuse_grid(location, begin);
  refuse_picture(all, files);
  const std::string extension = extension_of(location);
  const auto* by_name = find_first(known, Reads::kBytes, [&](const Reader& reader) {
    return std::ranges::find(reader.suffixes, extension) != reader.suffixes.end();
  });
  return by_name != nullptr ? *by_name : *find_first(known, Reads::kBytes, [](const Reader&) { return true; });
}

}  // namespace

std::span<const Reader> readers() {
  static const std::array table = {
      csv_reader(),       //
      arrow_reader(),     //
      hdf5_reader(),      //
      idx_reader(),       //
      parquet_reader(),   //
      npy_reader(),       //
      npz_reader(),       //
      raw_reader(),       //
      libsvm_reader(),    //
      collider_reader(),  //
      images_reader(),    //
      sem_reader(),       //
      arrays_reader(),    //
  };
  return table;
}

const Reader* reader_of_scheme(std::string_view scheme) {
  return find_first(readers(), Reads::kScheme, [&](const Reader& reader) { return reader.name == scheme; });
}

std::vector<std::string> format_names() { return names_of(readers()); }

const Reader& find_reader(const SourceSpec& spec, std::span<const Reader> known) {
  if (spec.arrays) return *find_first(known, Reads::kArrays, [](const Reader&) { return true; });
  const std::string scheme = parse_location(spec.location).scheme;
  const auto* by_scheme =
      find_first(known, Reads::kScheme, [&](const Reader& reader) { return reader.name == scheme; });
  if (by_scheme != nullptr) return *by_scheme;
  if (spec.format == kAnyFormat) return find_format(spec.location, known);
  const auto* named =
      find_first(known, Reads::kBytes, [&](const Reader& reader) { return reader.name == spec.format; });
  if (named != nullptr) return *named;
  throw_input_error("{}: format is {}, allowed are {}", spec.location, printable(spec.format),
                    fmt::join(names_of(known), ", "));
}

void check_options(const Reader& reader, const SourceSpec& spec) {
  if (reader.reads == Reads::kBytes && !reader.takes_many && io::may_be_many(spec.location)) {
    io::list_files(spec.location);  // throws if there are none, which matters more
    throw_input_error("{}: may be several files, and of the format {} one is read at a time; name one", spec.location,
                      reader.name);
  }
  for (const std::string& choice : choices_of(spec)) {
    if (choice == "format" && reader.reads == Reads::kBytes) continue;
    if (std::ranges::find(reader.options, choice) != reader.options.end()) continue;
    throw_input_error("{}: {} cannot be chosen: {}", spec.location, option_name(choice), reader.reason);
  }
}

}  // namespace podere::source
