// Arrays of an HDF5 file, of which any range of bytes can be read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "podere/columns/hdf5_program/conventions.h"
#include "podere/columns/hdf5_program/element.h"

namespace podere::columns::hdf5 {

/// A dataset and what is read of it.
struct Part {
  Handle dataset;
  std::vector<hsize_t> sizes;  ///< at least one dimension
  /// Of a value of the dataset; or, if there are several in an element, of a row of it.
  Element element;
  std::uint64_t values_per_element = 1;

  std::uint64_t values_per_row() const;
};

/// The opened dataset at a path. Throws Refusal for what is no array, or lies in other files.
Part open_part(hid_t file, const std::string& path);

/// Gives the field of texts of any length the bytes that the longest needs: reads all of them.
void measure_texts(Part& part);

/// Whether a dataset is what netCDF keeps of a dimension that has no values.
bool is_netcdf_dimension_alone(hid_t dataset);

/// What is in an attribute of an object: a text, or numbers. Nothing if there is none, or another.
std::optional<std::string> text_attribute(hid_t object, const std::string& name);
std::vector<double> number_attribute(hid_t object, const std::string& name);

/// Rows of one or more datasets side by side. Of several, each has one value or several values called by their names
/// in a row.
class Array {
 public:
  /// A field of the element of a part.
  struct Place {
    std::size_t part;
    std::size_t field;
  };

  /// Of one dataset, as it is: what netCDF packs is unpacked; what MATLAB wrote has its dimensions turned around.
  Array(std::string name, Part part, bool is_netcdf);
  /// Of fields that all have names, in that order, of datasets whose elements are rows.
  Array(std::string name, std::vector<Part> parts, const std::vector<Place>& places);

  const std::string& name() const { return name_; }
  const Meaning& meaning() const { return meaning_; }
  void set_meaning(Meaning meaning) { meaning_ = std::move(meaning); }
  std::vector<std::uint64_t> shape() const;
  bool is_fortran() const { return is_fortran_; }
  std::uint64_t chunk_rows() const;  ///< rows that are packed together; 0: none are
  std::uint64_t element_bytes() const { return element_bytes_; }
  const std::vector<Field>& fields() const { return fields_; }
  /// The bytes of an array of NumPy of this type and shape, as they lie in C order, or in Fortran order.
  std::vector<std::byte> read(std::uint64_t first_byte, std::uint64_t n_bytes) const;

 private:
  void adapt_to_matlab();
  void adapt_to_netcdf(bool is_netcdf);
  void place_values(const std::vector<Place>& places);
  std::uint64_t n_elements() const;
  void read_part(std::size_t index, std::uint64_t first, std::uint64_t n, std::byte* to) const;

  std::string name_;
  Meaning meaning_;
  std::vector<Part> parts_;
  std::vector<Field> fields_;                // of all parts, in the order of columns
  std::vector<std::vector<Field>> of_part_;  // the same, of each part
  bool is_as_read_ = false;                  // one part, whose bytes stay what they are
  bool is_fortran_ = false;
  std::uint64_t element_bytes_ = 0;
};

}  // namespace podere::columns::hdf5
