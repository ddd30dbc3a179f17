#include "podere/columns/hdf5_program/element.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

namespace podere::columns::hdf5 {
namespace {

constexpr std::size_t kMostMembers = std::size_t{1} << 20;

/// A copy, which may be closed: a constant of the library must not be.
Handle copy_of(hid_t type) { return {H5Tcopy(type), H5Tclose}; }

Handle type_of(hid_t id) { return {id, H5Tclose}; }

std::string member_name(hid_t type, unsigned index) {
  char* text = H5Tget_member_name(type, index);
  if (text == nullptr) refuse("a type cannot be read: the file is damaged");
  std::string name = text;
  H5free_memory(text);
  return name;
}

/// A value by itself: its type in memory, and what NumPy calls it.
struct Value {
  Handle type;
  Field field;
};

Value other(std::string words) { return {Handle(), {.name = {}, .type = std::move(words)}}; }

Value as_read(Handle type, std::string name) {
  const std::size_t bytes = H5Tget_size(type.get());
  Value value{std::move(type), {.name = {}, .type = std::move(name)}};
  value.field.from_bytes = value.field.to_bytes = bytes;
  return value;
}

Value whole_number(hid_t type) {
  const std::size_t bytes = H5Tget_size(type);
  const bool is_signed = H5Tget_sign(type) != H5T_SGN_NONE;
  const char sign = is_signed ? 'i' : 'u';
  if (bytes > 8) return other(fmt::format("whole numbers of {} bytes", bytes));
  const std::size_t here = std::bit_ceil(bytes);
  const hid_t known[2][4] = {{H5T_NATIVE_UINT8, H5T_NATIVE_UINT16, H5T_NATIVE_UINT32, H5T_NATIVE_UINT64},
                             {H5T_NATIVE_INT8, H5T_NATIVE_INT16, H5T_NATIVE_INT32, H5T_NATIVE_INT64}};
  return as_read(copy_of(known[is_signed ? 1 : 0][std::countr_zero(here)]), fmt::format("<{}{}", sign, here));
}

Value real_number(hid_t type) {
  const bool is_short = H5Tget_size(type) <= 4;
  return as_read(copy_of(is_short ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE), is_short ? "<f4" : "<f8");
}

Value text(hid_t type) {
  Handle here = copy_of(type);
  if (H5Tis_variable_str(type) > 0) {
    Value value{std::move(here), {.name = {}, .type = "|S1"}};
    value.field.form = Field::Form::kLongText;
    value.field.from_bytes = sizeof(char*);
    value.field.to_bytes = 1;
    return value;
  }
  // Behind a shorter text, and in place of spaces, are zeros.
  whole(H5Tset_strpad(here.get(), H5T_STR_NULLPAD), "a type");
  const std::size_t bytes = H5Tget_size(type);
  return as_read(std::move(here), fmt::format("|S{}", bytes));
}

/// An enumeration: a boolean where its names are those that h5py gives 0 and 1, else a text.
Value names(hid_t type) {
  const int n = whole(H5Tget_nmembers(type), "a type");
  Value value = as_read(type_of(H5Tget_native_type(type, H5T_DIR_ASCEND)), "");
  if (!value.type || !std::has_single_bit(value.field.from_bytes) || value.field.from_bytes > 8) {
    return other("an enumeration");
  }
  std::size_t longest = 1;
  for (int i = 0; i < n; ++i) {
    std::int64_t number = 0;
    std::array<std::byte, 8> bytes{};
    const auto index = static_cast<unsigned>(i);
    whole(H5Tget_member_value(value.type.get(), index, bytes.data()), "a type");
    std::memcpy(&number, bytes.data(), sizeof number);
    const auto [place, is_new] = value.field.names.emplace(number, member_name(type, index));
    longest = std::max(longest, place->second.size());
  }
  const auto& known = value.field.names;
  if (value.field.from_bytes == 1 && known == std::map<std::int64_t, std::string>{{0, "FALSE"}, {1, "TRUE"}}) {
    value.field.names.clear();
    value.field.type = "|b1";
    return value;
  }
  make_text(value.field, longest, Field::Form::kNames);
  return value;
}

bool is_complex(hid_t type) {
  return H5Tget_nmembers(type) == 2 && member_name(type, 0) == "r" && member_name(type, 1) == "i";
}

Value value_of(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return whole_number(type);
    case H5T_FLOAT:
      return real_number(type);
    case H5T_STRING:
      return text(type);
    case H5T_ENUM:
      return names(type);
    case H5T_BITFIELD:  // PyTables writes what is true or false so
      if (H5Tget_size(type) == 1) return as_read(copy_of(H5T_NATIVE_B8), "|b1");
      return other("bits");
    case H5T_COMPOUND:
      return other(is_complex(type) ? "complex numbers" : "fields in a field");
    case H5T_VLEN:
      return other("a list in each row");
    case H5T_REFERENCE:
      return other("references");
    case H5T_OPAQUE:
      return other("bytes without a type");
    case H5T_TIME:
      return other("times of HDF5");
    case H5T_ARRAY:
      return other("an array in each row");
    default:
      refuse("a type is unknown: the file is damaged");
  }
}

/// The values of a member, which may be an array of them.
struct Member {
  Handle type;
  std::vector<Field> fields;
};

Member make_member(hid_t type) {
  Member member;
  if (H5Tget_class(type) != H5T_ARRAY) {
    Value value = value_of(type);
    member.type = std::move(value.type);
    member.fields.push_back(std::move(value.field));
    return member;
  }
  const int n_dimensions = whole(H5Tget_array_ndims(type), "a type");
  std::vector<hsize_t> sizes(static_cast<std::size_t>(n_dimensions));
  whole(H5Tget_array_dims2(type, sizes.data()), "a type");
  std::size_t n = 1;
  for (const hsize_t size : sizes) {
    if (size > kMostMembers || n * size > kMostMembers) refuse("a field has more than {} values", kMostMembers);
    n *= static_cast<std::size_t>(size);
  }
  const Handle base = type_of(whole(H5Tget_super(type), "a type"));
  const Value value = value_of(base.get());
  if (!value.field.has_values()) {
    member.fields.push_back(value.field);
    return member;
  }
  member.type =
      type_of(whole(H5Tarray_create2(value.type.get(), static_cast<unsigned>(n_dimensions), sizes.data()), "a type"));
  for (std::size_t i = 0; i < n; ++i) {
    member.fields.push_back(value.field);
    member.fields.back().from = i * value.field.from_bytes;
    member.fields.back().column = i;
  }
  return member;
}

Element make_record(hid_t type) {
  Element element;
  const int n = whole(H5Tget_nmembers(type), "a type");
  std::vector<std::pair<std::string, Member>> members;
  for (int i = 0; i < n; ++i) {
    const auto index = static_cast<unsigned>(i);
    const Handle of_member = type_of(whole(H5Tget_member_type(type, index), "a type"));
    members.emplace_back(member_name(type, index), make_member(of_member.get()));
    const Handle& here = members.back().second.type;
    for (Field& field : members.back().second.fields) {
      field.from += element.bytes;
      field.name = field.member = members.back().first;
      if (members.back().second.fields.size() > 1) field.name += fmt::format("{}", field.column);
      if (element.fields.size() == kMostMembers) refuse("a row has more than {} values", kMostMembers);
      element.fields.push_back(field);
    }
    if (here) element.bytes += H5Tget_size(here.get());
  }
  if (element.bytes == 0) return element;
  element.type = type_of(whole(H5Tcreate(H5T_COMPOUND, element.bytes), "a type"));
  std::size_t at = 0;
  for (const auto& [name, member] : members) {
    if (!member.type) continue;
    whole(H5Tinsert(element.type.get(), name.c_str(), at, member.type.get()), "a type");
    at += H5Tget_size(member.type.get());
  }
  return element;
}

double number_at(const Field& field, const std::byte* from) {
  double value;
  std::memcpy(&value, from + field.from, sizeof value);
  return value;
}

/// A whole number of 1, 2, 4 or 8 bytes, as it is a key of Field::names: other bytes are 0.
std::int64_t key_at(const Field& field, const std::byte* from) {
  std::int64_t key = 0;
  std::memcpy(&key, from + field.from, field.from_bytes);
  return key;
}

void put_text(std::string_view text, const Field& field, std::byte* to) {
  const std::size_t n = std::min(text.size(), field.to_bytes);
  std::memcpy(to + field.to, text.data(), n);
  std::memset(to + field.to + n, 0, field.to_bytes - n);
}

}  // namespace

Element make_element(hid_t type) {
  if (H5Tget_class(type) == H5T_COMPOUND && !is_complex(type)) return make_record(type);
  Value value = value_of(type);
  Element element{std::move(value.type), value.field.from_bytes, {}};
  element.fields.push_back(std::move(value.field));
  return element;
}

void make_text(Field& field, std::size_t n_bytes, Field::Form form) {
  field.form = form;
  field.to_bytes = std::max<std::size_t>(n_bytes, 1);
  field.type = fmt::format("|S{}", field.to_bytes);
}

void make_packed(Element& element, Packing packing) {
  Field& field = element.fields.front();
  element.type = copy_of(H5T_NATIVE_DOUBLE);
  element.bytes = field.from_bytes = field.to_bytes = sizeof(double);
  field.type = "<f8";
  field.form = Field::Form::kPacked;
  field.packing = std::move(packing);
}

std::string_view long_text(const Field& field, const std::byte* element) {
  const char* text;
  std::memcpy(&text, element + field.from, sizeof text);
  return text == nullptr ? "" : text;
}

void convert(const Field& field, const std::byte* from, std::byte* to) {
  switch (field.form) {
    case Field::Form::kAsRead:
      std::memcpy(to + field.to, from + field.from, field.to_bytes);
      return;
    case Field::Form::kLongText:
      return put_text(long_text(field, from), field, to);
    case Field::Form::kNames: {
      const auto named = field.names.find(key_at(field, from));
      return put_text(named == field.names.end() ? std::string_view("") : std::string_view(named->second), field, to);
    }
    case Field::Form::kPacked: {
      const double stored = number_at(field, from);
      const double read = stored < 0 ? stored + field.packing.wrap : stored;
      const bool is_missing = std::ranges::find(field.packing.missing, read) != field.packing.missing.end();
      const double value =
          is_missing ? std::numeric_limits<double>::quiet_NaN() : read * field.packing.scale + field.packing.offset;
      std::memcpy(to + field.to, &value, sizeof value);
      return;
    }
  }
}

}  // namespace podere::columns::hdf5
