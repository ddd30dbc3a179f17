// What netCDF and the CF conventions say of datasets.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "podere/columns/hdf5_program/handle.h"

namespace podere::columns::hdf5 {

/// A dimension of a dataset that has a scale, which is a dataset too.
struct Dimension {
  std::string name;    ///< of the scale; empty: it has none
  std::string values;  ///< in words that differ where the numbers of the scale do; empty: it has none
};

/// What a dataset is about.
struct Meaning {
  bool is_coordinate = false;  ///< of others: where their values lie
  std::string units;
  std::vector<Dimension> dimensions;  ///< of all, or none
};

/// Whether a dataset is a scale of dimensions, or has scales, as all of netCDF have.
bool has_scales(hid_t dataset);

/// The names of those datasets of a group that are coordinates: scales of dimensions, and what others name as their
/// bounds or coordinates.
/// Source: CF conventions 1.11, sections 5 and 7.1.
std::set<std::string> coordinates_among(hid_t file, const std::string& group, const std::vector<std::string>& datasets);

/// But for is_coordinate.
Meaning meaning_of(hid_t file, const std::string& path);

/// Numbers of an attribute, also where a text is written for one. Nothing if there is none. Throws Refusal, with the
/// attribute's name, if it is anything else.
std::vector<double> numbers_meant(hid_t dataset, const std::string& name);

}  // namespace podere::columns::hdf5
