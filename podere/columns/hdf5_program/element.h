// How an element of a dataset becomes one of NumPy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podere/columns/hdf5_program/handle.h"

namespace podere::columns::hdf5 {

/// Numbers that netCDF packs, or that stand for a missing one.
struct Packing {
  double scale = 1, offset = 0;
  double wrap = 0;  ///< added to negative numbers: signed ones that stand for unsigned ones
  std::vector<double> missing;
};

/// A value of an element: where it is in what the library reads, and what is made of it.
struct Field {
  enum class Form {
    kAsRead,    ///< the bytes as they are
    kLongText,  ///< the address of a text becomes the text
    kNames,     ///< a whole number becomes the name that it has in `names`; others are missing
    kPacked,    ///< a double, by `packing`
  };
  std::string name;  ///< empty: the element is this value
  std::string type;  ///< of NumPy, or words for what no table can have
  bool is_index = false;
  Form form = Form::kAsRead;
  std::size_t from = 0, from_bytes = 0;  ///< in the element that the library reads
  std::size_t to = 0, to_bytes = 0;      ///< in the element that is made
  std::map<std::int64_t, std::string> names = {};
  Packing packing = {};
  std::string member = {};  ///< of a record, of which it is a value
  std::size_t column = 0;   ///< among the values of a member that is an array

  bool has_values() const { return to_bytes > 0; }
};

/// The type in which the library hands over the elements of a dataset, and the values in one.
struct Element {
  Handle type;  ///< none if there is no value
  std::size_t bytes = 0;
  std::vector<Field> fields;
};

/// An element of the type of a dataset. Where its values go is open.
Element make_element(hid_t type);

/// Makes a value a text of `n_bytes`.
void make_text(Field& field, std::size_t n_bytes, Field::Form form);

/// Makes the only value of an element, a number, one that is packed so.
void make_packed(Element& element, Packing packing);

/// A text of any length in an element, until its values are freed.
std::string_view long_text(const Field& field, const std::byte* element);

/// Makes a value from an element that was read.
void convert(const Field& field, const std::byte* from, std::byte* to);

}  // namespace podere::columns::hdf5
