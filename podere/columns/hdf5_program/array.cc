#include "podere/columns/hdf5_program/array.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "podere/columns/hdf5_program/conventions.h"
#include "podere/columns/hdf5_protocol.h"

namespace podere::columns::hdf5 {
namespace {

constexpr std::size_t kMostTextBytes = std::size_t{1} << 16;
constexpr std::size_t kUsualCacheBytes = std::size_t{1} << 20, kMostCacheBytes = std::size_t{1} << 30;
constexpr std::uint64_t kTextPieceBytes = std::uint64_t{1} << 16;
// What netCDF has where nothing was written. Source: netCDF C library, netcdf.h, NC_FILL_*.
const std::map<std::string, double> kNetcdfFills = {{"<f8", 9.9692099683868690e+36},
                                                    {"<f4", 9.9692099683868690e+36},
                                                    {"<i2", -32767},
                                                    {"<u2", 65535},
                                                    {"<i4", -2147483647},
                                                    {"<u4", 4294967295},
                                                    {"<i8", -9223372036854775806.0},
                                                    {"<u8", 18446744073709551614.0}};

std::uint64_t product(std::span<const hsize_t> sizes) {
  std::uint64_t result = 1;
  for (const hsize_t size : sizes) {
    if (size > 0 && result > std::numeric_limits<std::int64_t>::max() / 64 / size) {
      refuse("its shape is too large for any file");
    }
    result *= size;
  }
  return result;
}

Handle open_space(hid_t dataset) { return {whole(H5Dget_space(dataset), "a shape"), H5Sclose}; }

std::vector<hsize_t> sizes_of(hid_t dataset) {
  const Handle space = open_space(dataset);
  const int n = whole(H5Sget_simple_extent_ndims(space.get()), "a shape");
  if (H5Sget_simple_extent_type(space.get()) == H5S_NULL) refuse("holds nothing");
  if (n == 0) refuse("a single value, not an array");
  std::vector<hsize_t> sizes(static_cast<std::size_t>(n));
  whole(H5Sget_simple_extent_dims(space.get(), sizes.data(), nullptr), "a shape");
  product(sizes);
  return sizes;
}

Handle properties_of(hid_t dataset) { return {whole(H5Dget_create_plist(dataset), "its properties"), H5Pclose}; }

std::vector<hsize_t> chunk_of(hid_t dataset, std::size_t n_dimensions) {
  const Handle properties = properties_of(dataset);
  if (H5Pget_layout(properties.get()) != H5D_CHUNKED) return {};
  std::vector<hsize_t> chunk(n_dimensions);
  whole(H5Pget_chunk(properties.get(), static_cast<int>(n_dimensions), chunk.data()), "its chunks");
  if (std::ranges::count(chunk, hsize_t{0}) > 0) refuse("has chunks of no size: the file is damaged");
  return chunk;
}

void refuse_other_files(hid_t dataset) {
  const Handle properties = properties_of(dataset);
  if (H5Pget_external_count(properties.get()) > 0) refuse("its values lie in another file");
  if (H5Pget_layout(properties.get()) == H5D_VIRTUAL) refuse("is virtual: its values lie in other files; name those");
}

std::string filter_names(hid_t dataset) {
  const Handle properties = properties_of(dataset);
  const int n = H5Pget_nfilters(properties.get());
  std::string names;
  for (int i = 0; i < n; ++i) {
    std::array<char, 64> name{};
    std::size_t n_values = 0;
    unsigned flags = 0, config = 0;
    const H5Z_filter_t filter = H5Pget_filter2(properties.get(), static_cast<unsigned>(i), &flags, &n_values, nullptr,
                                               name.size() - 1, name.data(), &config);
    if (filter < 0 || H5Zfilter_avail(filter) > 0) continue;
    std::string_view called = name.data();
    called = called.substr(0, called.find(';'));
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", called, filter);
  }
  return names;
}

/// Opens it with a cache that holds the chunks of a row of chunks: rows are read a few at a time.
Handle open_dataset(hid_t file, const std::string& path) {
  Handle dataset(H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset) refuse("cannot be opened: the file is damaged");
  const std::vector<hsize_t> sizes = sizes_of(dataset.get());
  const std::vector<hsize_t> chunk = chunk_of(dataset.get(), sizes.size());
  if (chunk.empty()) return dataset;
  const Handle type(whole(H5Dget_type(dataset.get()), "its type"), H5Tclose);
  double bytes = static_cast<double>(H5Tget_size(type.get())) * static_cast<double>(chunk[0]);
  double n_chunks = 1;
  for (std::size_t d = 1; d < sizes.size(); ++d) {
    const hsize_t n = (sizes[d] + chunk[d] - 1) / chunk[d];
    n_chunks *= static_cast<double>(n);
    bytes *= static_cast<double>(n) * static_cast<double>(chunk[d]);
  }
  static std::size_t n_left = kMostCacheBytes;  // of all datasets that are open
  const auto needed = static_cast<std::size_t>(std::min(2 * bytes, static_cast<double>(n_left)));
  n_left -= needed;
  const auto slots = static_cast<std::size_t>(std::clamp(20 * n_chunks, 521.0, 1e6)) | 1;
  const Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
  H5Pset_chunk_cache(access.get(), slots, std::max(needed, kUsualCacheBytes), 1.0);
  dataset = Handle();  // a dataset that is open keeps its cache
  return {whole(H5Dopen2(file, path.c_str(), access.get()), "it"), H5Dclose};
}

/// Reads what is selected of a dataset, `n` values.
void read_selected(const Part& part, hid_t selected, std::uint64_t n, std::byte* to) {
  const hsize_t size = n;
  const Handle memory(whole(H5Screate_simple(1, &size, nullptr), "it"), H5Sclose);
  if (H5Dread(part.dataset.get(), part.element.type.get(), memory.get(), selected, H5P_DEFAULT, to) >= 0) return;
  const std::string unknown = filter_names(part.dataset.get());
  if (!unknown.empty()) {
    refuse("is packed by {}, which is not known here; write it with compression=\"gzip\"", unknown);
  }
  refuse("its values cannot be read: the file is damaged, or a chunk of it does not fit into {} GB of memory",
         kHdf5MemoryBytes >> 30);
}

/// Values first, ..., first + n - 1 in C order, in pieces: whole rows, or runs of the last dimension.
void for_each_selection(const Part& part, std::uint64_t first, std::uint64_t n,
                        const std::function<void(hid_t selected, std::uint64_t n)>& take) {
  const Handle space = open_space(part.dataset.get());
  const std::uint64_t per_row = part.values_per_row();
  const bool has_whole_rows = first % per_row == 0 && n % per_row == 0;
  const std::size_t n_dimensions = part.sizes.size();
  std::vector<hsize_t> begin(n_dimensions), count(n_dimensions, 1);
  while (n > 0) {
    std::uint64_t n_here = n;
    if (has_whole_rows) {
      begin[0] = first / per_row;
      count = part.sizes;
      count[0] = n / per_row;
    } else {
      std::uint64_t rest = first;
      for (std::size_t d = n_dimensions; d-- > 0;) {
        begin[d] = rest % part.sizes[d];
        rest /= part.sizes[d];
      }
      n_here = std::min<std::uint64_t>(n, part.sizes.back() - begin.back());
      count.back() = n_here;
    }
    whole(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, begin.data(), nullptr, count.data(), nullptr), "it");
    take(space.get(), n_here);
    first += n_here;
    n -= n_here;
  }
}

/// The only number of an attribute.
std::optional<double> number_meant(hid_t dataset, const std::string& name) {
  const std::vector<double> numbers = numbers_meant(dataset, name);
  if (numbers.size() > 1) refuse("its attribute {} has {} numbers, allowed is one", name, numbers.size());
  return numbers.empty() ? std::nullopt : std::optional(numbers[0]);
}

bool has_long_texts(const Part& part) {
  return std::ranges::any_of(part.element.fields, [](const Field& f) { return f.form == Field::Form::kLongText; });
}

/// Elements first, ..., first + n - 1 as they are read, `n_here` at a time.
void for_each_run(const Part& part, std::uint64_t first, std::uint64_t n,
                  const std::function<void(const std::byte* read, std::uint64_t n_here)>& take) {
  const std::uint64_t step = part.values_per_element;
  for_each_selection(part, first * step, n * step, [&](hid_t selected, std::uint64_t n_values) {
    std::vector<std::byte> read(static_cast<std::size_t>(n_values / step) * part.element.bytes);
    read_selected(part, selected, n_values, read.data());
    take(read.data(), n_values / step);
    if (!has_long_texts(part)) return;
    // Releases what the library took for texts.
    const hsize_t size = n_values;
    const Handle memory(whole(H5Screate_simple(1, &size, nullptr), "it"), H5Sclose);
    H5Dvlen_reclaim(part.element.type.get(), memory.get(), H5P_DEFAULT, read.data());
  });
}

}  // namespace

std::uint64_t Part::values_per_row() const { return product(std::span(sizes).subspan(1)); }

Part open_part(hid_t file, const std::string& path) {
  Part part;
  part.dataset = open_dataset(file, path);
  part.sizes = sizes_of(part.dataset.get());
  refuse_other_files(part.dataset.get());
  const Handle type(whole(H5Dget_type(part.dataset.get()), "its type"), H5Tclose);
  part.element = make_element(type.get());
  return part;
}

void measure_texts(Part& part) {
  if (!has_long_texts(part)) return;
  std::vector<Field>& fields = part.element.fields;
  std::vector<std::size_t> longest(fields.size(), 1);
  const std::uint64_t n_all = product(part.sizes), per_row = std::max<std::uint64_t>(part.values_per_row(), 1);
  const std::uint64_t n_piece = std::max<std::uint64_t>(kTextPieceBytes / (part.element.bytes * per_row), 1) * per_row;
  for (std::uint64_t first = 0; first < n_all; first += n_piece) {
    for_each_run(part, first, std::min(n_piece, n_all - first), [&](const std::byte* read, std::uint64_t n) {
      for (std::uint64_t i = 0; i < n; ++i) {
        for (std::size_t f = 0; f < fields.size(); ++f) {
          if (fields[f].form != Field::Form::kLongText) continue;
          longest[f] = std::max(longest[f], long_text(fields[f], read + i * part.element.bytes).size());
        }
      }
    });
  }
  for (std::size_t f = 0; f < fields.size(); ++f) {
    if (fields[f].form != Field::Form::kLongText) continue;
    if (longest[f] <= kMostTextBytes) {
      make_text(fields[f], longest[f], Field::Form::kLongText);
    } else {
      fields[f].type = fmt::format("text of {} bytes, of which {} are allowed", longest[f], kMostTextBytes);
      fields[f].to_bytes = 0;
      fields[f].form = Field::Form::kAsRead;
    }
  }
}

bool is_netcdf_dimension_alone(hid_t dataset) {
  return text_attribute(dataset, "NAME")
      .value_or("")
      .starts_with("This is a netCDF dimension but not a netCDF variable");
}

std::optional<std::string> text_attribute(hid_t object, const std::string& name) {
  if (H5Aexists(object, name.c_str()) <= 0) return {};
  const Handle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose);
  if (!attribute) return {};
  const Handle type(H5Aget_type(attribute.get()), H5Tclose);
  const Handle space(H5Aget_space(attribute.get()), H5Sclose);
  if (!type || H5Tget_class(type.get()) != H5T_STRING || H5Sget_simple_extent_npoints(space.get()) != 1) return {};
  if (H5Tis_variable_str(type.get()) > 0) {
    char* text = nullptr;
    if (H5Aread(attribute.get(), type.get(), static_cast<void*>(&text)) < 0 || text == nullptr) return {};
    std::string result = text;
    H5free_memory(text);
    return result;
  }
  std::string result(H5Tget_size(type.get()), '\0');
  if (result.size() > kMostTextBytes * 64 || H5Aread(attribute.get(), type.get(), result.data()) < 0) return {};
  result.resize(std::min(result.find('\0'), result.size()));
  return result;
}

std::vector<double> number_attribute(hid_t object, const std::string& name) {
  if (H5Aexists(object, name.c_str()) <= 0) return {};
  const Handle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose);
  if (!attribute) return {};
  const Handle type(H5Aget_type(attribute.get()), H5Tclose);
  const Handle space(H5Aget_space(attribute.get()), H5Sclose);
  const H5T_class_t kind = H5Tget_class(type.get());
  const hssize_t n = H5Sget_simple_extent_npoints(space.get());
  if ((kind != H5T_INTEGER && kind != H5T_FLOAT) || n < 1 || n > 1024) return {};
  std::vector<double> numbers(static_cast<std::size_t>(n));
  if (H5Aread(attribute.get(), H5T_NATIVE_DOUBLE, numbers.data()) < 0) return {};
  return numbers;
}

Array::Array(std::string name, Part part, bool is_netcdf) : name_(std::move(name)) {
  parts_.push_back(std::move(part));
  adapt_to_matlab();
  adapt_to_netcdf(is_netcdf);
  const std::vector<Field>& fields = parts_[0].element.fields;
  const bool has_fields = fields.size() != 1 || !fields[0].name.empty();
  if (!has_fields && !fields[0].has_values()) refuse("holds {}", fields[0].type);
  if (has_fields && parts_[0].sizes.size() > 1) refuse("holds fields in {} dimensions", parts_[0].sizes.size());
  std::vector<Place> places;
  for (std::size_t f = 0; f < fields.size(); ++f) places.push_back({0, f});
  place_values(places);
}

Array::Array(std::string name, std::vector<Part> parts, const std::vector<Place>& places)
    : name_(std::move(name)), parts_(std::move(parts)) {
  place_values(places);
}

// The values of a part stay side by side as they are read, so that of one part nothing need be moved.
void Array::place_values(const std::vector<Place>& places) {
  for (Part& part : parts_) {
    measure_texts(part);
    std::vector<Field*> by_place;
    for (Field& field : part.element.fields) by_place.push_back(&field);
    std::ranges::stable_sort(by_place, {}, &Field::from);
    for (Field* field : by_place) {
      field->to = static_cast<std::size_t>(element_bytes_);
      element_bytes_ += field->to_bytes;
    }
  }
  of_part_.resize(parts_.size());
  for (const Place& place : places) {
    fields_.push_back(parts_[place.part].element.fields[place.field]);
    of_part_[place.part].push_back(fields_.back());
  }
  is_as_read_ = parts_.size() == 1 && parts_[0].element.bytes == element_bytes_ &&
                std::ranges::all_of(fields_, [](const Field& field) {
                  return field.form == Field::Form::kAsRead && (field.from == field.to || !field.has_values());
                });
}

// MATLAB has matrices by columns, and writes their dimensions the other way around.
void Array::adapt_to_matlab() {
  Part& part = parts_[0];
  const auto kind = text_attribute(part.dataset.get(), "MATLAB_class");
  if (!kind) return;
  if (!number_attribute(part.dataset.get(), "MATLAB_empty").empty()) refuse("is empty");
  if (part.element.fields.size() != 1) refuse("holds records, which MATLAB does not write");
  Field& field = part.element.fields.front();
  if (*kind == "logical" && field.type == "<u1") field.type = "|b1";
  const bool is_number = *kind == "logical" || *kind == "double" || *kind == "single" || kind->starts_with("int") ||
                         kind->starts_with("uint");
  if (!is_number) refuse("holds {} of MATLAB", *kind);
  is_fortran_ = true;
}

void Array::adapt_to_netcdf(bool is_netcdf) {
  Part& part = parts_[0];
  if (part.element.fields.size() != 1) return;
  const Field& field = part.element.fields[0];
  const bool is_number = field.has_values() && field.form == Field::Form::kAsRead &&
                         (field.type.starts_with("<f") || field.type.starts_with("<i") || field.type.starts_with("<u"));
  if (!is_number) return;
  const hid_t dataset = part.dataset.get();
  Packing packing;
  for (const char* name : {"_FillValue", "missing_value"}) {
    for (const double missing : numbers_meant(dataset, name)) packing.missing.push_back(missing);
  }
  const bool is_unsigned = field.type.starts_with("<i") && text_attribute(dataset, "_Unsigned") == "true";
  if (is_unsigned) packing.wrap = std::ldexp(1.0, static_cast<int>(8 * field.to_bytes));
  for (double& missing : packing.missing) missing += missing < 0 ? packing.wrap : 0;
  const auto usual_fill = kNetcdfFills.find(field.type);
  if (packing.missing.empty() && is_netcdf && usual_fill != kNetcdfFills.end()) {
    packing.missing.push_back(usual_fill->second);
  }
  if (field.type == "<f4") {  // as values of this type have it
    for (double& missing : packing.missing) missing = static_cast<double>(static_cast<float>(missing));
  }
  const auto scale = number_meant(dataset, "scale_factor"), offset = number_meant(dataset, "add_offset");
  packing.scale = scale.value_or(1);
  packing.offset = offset.value_or(0);
  if (packing.missing.empty() && !scale && !offset && !is_unsigned) return;
  make_packed(part.element, std::move(packing));
}

std::vector<std::uint64_t> Array::shape() const {
  const Part& part = parts_[0];
  std::vector<std::uint64_t> shape(part.sizes.begin(), part.sizes.end());
  if (part.values_per_element > 1) shape.resize(1);
  if (is_fortran_) std::ranges::reverse(shape);
  if (is_fortran_ && shape.size() == 2 && shape[1] == 1) shape.pop_back();  // MATLAB has no arrays of one dimension
  return shape;
}

std::uint64_t Array::chunk_rows() const {
  if (is_fortran_) return 0;
  std::uint64_t rows = 0;
  for (const Part& part : parts_) {
    const std::vector<hsize_t> chunk = chunk_of(part.dataset.get(), part.sizes.size());
    if (!chunk.empty()) rows = std::max<std::uint64_t>(rows, chunk[0]);
  }
  return rows;
}

std::uint64_t Array::n_elements() const {
  return product(parts_[0].sizes) / std::max<std::uint64_t>(parts_[0].values_per_element, 1);
}

void Array::read_part(std::size_t index, std::uint64_t first, std::uint64_t n, std::byte* to) const {
  const Part& part = parts_[index];
  for_each_run(part, first, n, [&](const std::byte* read, std::uint64_t n_here) {
    for (std::uint64_t i = 0; i < n_here; ++i) {
      for (const Field& field : of_part_[index]) convert(field, read + i * part.element.bytes, to + i * element_bytes_);
    }
    to += n_here * element_bytes_;
  });
}

std::vector<std::byte> Array::read(std::uint64_t first_byte, std::uint64_t n_bytes) const {
  const std::uint64_t n_all = n_elements() * element_bytes_;
  if (n_bytes > kHdf5MostAnswerBytes || first_byte > n_all || n_bytes > n_all - first_byte) {
    refuse("bytes were asked for that it does not have");
  }
  if (n_bytes == 0) return {};
  const std::uint64_t first = first_byte / element_bytes_;
  const std::uint64_t last = (first_byte + n_bytes + element_bytes_ - 1) / element_bytes_;
  std::vector<std::byte> made(static_cast<std::size_t>((last - first) * element_bytes_));
  if (is_as_read_) {
    std::byte* to = made.data();
    const std::uint64_t step = parts_[0].values_per_element;
    for_each_selection(parts_[0], first * step, (last - first) * step, [&](hid_t selected, std::uint64_t n) {
      read_selected(parts_[0], selected, n, to);
      to += n / step * element_bytes_;
    });
  } else {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      if (!of_part_[p].empty() && parts_[p].element.type) read_part(p, first, last - first, made.data());
    }
  }
  const auto begin = static_cast<std::ptrdiff_t>(first_byte - first * element_bytes_);
  if (begin == 0 && made.size() == n_bytes) return made;
  return {made.begin() + begin, made.begin() + begin + static_cast<std::ptrdiff_t>(n_bytes)};
}

}  // namespace podere::columns::hdf5
