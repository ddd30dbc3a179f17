#include "podere/columns/hdf5_program/conventions.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <sstream>
#include <string_view>

#include "podere/base/hash.h"
#include "podere/base/number.h"
#include "podere/columns/hdf5_program/array.h"

namespace podere::columns::hdf5 {
namespace {

constexpr hsize_t kMostScaleValues = 1'000'000;
constexpr std::size_t kMostNameBytes = 1024;
constexpr std::size_t kShownBytes = 40;

Handle open_dataset_at(hid_t file, const std::string& path) {
  return {whole(H5Dopen2(file, path.c_str(), H5P_DEFAULT), "a dataset"), H5Dclose};
}

bool is_scale(hid_t dataset) { return text_attribute(dataset, "CLASS") == "DIMENSION_SCALE"; }

/// The numbers of a scale: how many lie where, and a sum of them as float32, in which files may differ in type.
std::string words_for_values(hid_t file, const std::string& path) try {
  const Part part = open_part(file, path);  // refuses what lies in other files
  if (part.element.fields.size() != 1 || !part.element.fields[0].has_values()) return {};
  const std::string& type = part.element.fields[0].type;
  const bool is_number = type.starts_with("<f") || type.starts_with("<i") || type.starts_with("<u");
  if (part.sizes.size() != 1 || part.sizes[0] == 0 || part.sizes[0] > kMostScaleValues || !is_number) return {};
  if (is_netcdf_dimension_alone(part.dataset.get())) return {};
  std::vector<double> values(static_cast<std::size_t>(part.sizes[0]));
  whole(H5Dread(part.dataset.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "a scale");
  std::uint64_t sum = 0;
  for (const double value : values) sum = mix64(sum ^ std::bit_cast<std::uint32_t>(static_cast<float>(value)));
  return fmt::format("from {:g} to {:g} (checksum {:08x})", values.front(), values.back(), sum >> 32);
} catch (const Refusal&) {
  return {};
}

/// The paths of the scales of all dimensions, empty where there is none. Nothing if no dimension has one.
std::vector<std::string> scales_of(hid_t dataset, std::size_t n_dimensions) {
  if (H5Aexists(dataset, "DIMENSION_LIST") <= 0) return {};
  const Handle attribute(H5Aopen(dataset, "DIMENSION_LIST", H5P_DEFAULT), H5Aclose);
  if (!attribute) return {};
  const Handle type(whole(H5Aget_type(attribute.get()), "DIMENSION_LIST"), H5Tclose);
  const Handle space(whole(H5Aget_space(attribute.get()), "DIMENSION_LIST"), H5Sclose);
  if (H5Tget_class(type.get()) != H5T_VLEN) return {};
  const Handle of_list(whole(H5Tget_super(type.get()), "DIMENSION_LIST"), H5Tclose);
  const bool fits = H5Tequal(of_list.get(), H5T_STD_REF_OBJ) > 0 &&
                    H5Sget_simple_extent_npoints(space.get()) == static_cast<hssize_t>(n_dimensions);
  if (!fits) return {};
  std::vector<hvl_t> lists(n_dimensions);
  if (H5Aread(attribute.get(), type.get(), lists.data()) < 0) return {};
  std::vector<std::string> paths;
  for (const hvl_t& list : lists) {
    std::string path(kMostNameBytes, '\0');
    ssize_t n_bytes = 0;
    if (list.len > 0 && list.p != nullptr) {
      const Handle scale(H5Rdereference2(dataset, H5P_DEFAULT, H5R_OBJECT, list.p), H5Oclose);
      if (scale) n_bytes = H5Iget_name(scale.get(), path.data(), path.size());
    }
    path.resize(n_bytes > 0 && n_bytes < static_cast<ssize_t>(kMostNameBytes) ? static_cast<std::size_t>(n_bytes) : 0);
    paths.push_back(std::move(path));
  }
  H5Dvlen_reclaim(type.get(), space.get(), H5P_DEFAULT, lists.data());
  return paths;
}

/// A number, with spaces around it.
std::optional<double> number_in(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' '), end = text.find_last_not_of(' ');
  return begin == std::string_view::npos ? std::nullopt : parse_real(text.substr(begin, end + 1 - begin));
}

}  // namespace

bool has_scales(hid_t dataset) { return is_scale(dataset) || H5Aexists(dataset, "DIMENSION_LIST") > 0; }

std::set<std::string> coordinates_among(hid_t file, const std::string& group,
                                        const std::vector<std::string>& datasets) {
  std::set<std::string> names;
  for (const std::string& name : datasets) {
    const Handle dataset = open_dataset_at(file, group.empty() ? name : group + "/" + name);
    if (is_scale(dataset.get())) names.insert({name, name + "_bnds", name + "_bounds"});
    for (const char* const attribute : {"bounds", "climatology", "coordinates"}) {
      std::istringstream named(text_attribute(dataset.get(), attribute).value_or(""));
      for (std::string other; named >> other;) names.insert(other);
    }
  }
  return names;
}

Meaning meaning_of(hid_t file, const std::string& path) {
  static std::map<std::string, std::string> words;  // of scales, by their path
  const Handle dataset = open_dataset_at(file, path);
  const Handle space(whole(H5Dget_space(dataset.get()), "a shape"), H5Sclose);
  const auto n_dimensions = static_cast<std::size_t>(whole(H5Sget_simple_extent_ndims(space.get()), "a shape"));
  Meaning meaning{.units = text_attribute(dataset.get(), "units").value_or("")};
  for (const std::string& scale : scales_of(dataset.get(), n_dimensions)) {
    const bool makes_columns = !meaning.dimensions.empty();
    if (makes_columns && !scale.empty() && !words.contains(scale)) words[scale] = words_for_values(file, scale);
    meaning.dimensions.push_back({scale.substr(scale.rfind('/') + 1), makes_columns ? words[scale] : ""});
  }
  return meaning;
}

std::vector<double> numbers_meant(hid_t dataset, const std::string& name) {
  if (H5Aexists(dataset, name.c_str()) <= 0) return {};
  const std::vector<double> numbers = number_attribute(dataset, name);
  if (!numbers.empty()) return numbers;
  const auto text = text_attribute(dataset, name);
  if (const auto number = number_in(text.value_or(""))) return {*number};
  refuse("its attribute {} is {}, allowed are numbers", name,
         text ? fmt::format("the text '{}'", text->substr(0, kShownBytes)) : "none that can be read");
}

}  // namespace podere::columns::hdf5
