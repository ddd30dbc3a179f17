#include "podere/columns/npy_header.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/columns/python_literal.h"

namespace podere::columns {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::uint64_t kMostHeaderBytes = std::uint64_t{1} << 22;  // 100,000 fields

using Literal = PythonLiteral;

/// Reads what the literal of a header says.
class HeaderReader {
 public:
  explicit HeaderReader(const std::string& name) : name_(name) {}

  void read(const Literal& literal) {
    if (literal.kind != Literal::Kind::kDict) fail("it is no dict");
    const Literal* parts[3] = {};
    constexpr std::array<std::string_view, 3> kKeys = {"descr", "fortran_order", "shape"};
    for (std::size_t i = 0; i < literal.items.size(); i += 2) {
      const Literal& key = literal.items[i];
      const auto known = std::ranges::find(kKeys, std::string_view(key.text));
      if (key.kind != Literal::Kind::kText || known == kKeys.end()) fail("it has a key of its own");
      const Literal*& part = parts[known - kKeys.begin()];
      if (part != nullptr) fail("a key stands twice");
      part = &literal.items[i + 1];
    }
    for (std::size_t i = 0; i < kKeys.size(); ++i) {
      if (parts[i] == nullptr) throw_input_error("{}: the header of NumPy has no '{}'", name_, kKeys[i]);
    }
    if (parts[1]->kind != Literal::Kind::kBool) fail("'fortran_order' is neither True nor False");
    header_.is_fortran = parts[1]->number == 1;
    read_type(*parts[0]);
    read_shape(*parts[2]);
  }

  NpyHeader header() && { return std::move(header_); }

 private:
  [[noreturn]] void fail(std::string_view why) const {
    throw_input_error("{}: the header is none of NumPy: {}", name_, why);
  }

  NpyType read_type_name(const Literal& literal) const {
    const auto type = parse_npy_type(literal.text);
    if (!type) throw_input_error("{}: there is no type {} of NumPy", name_, printable(literal.text));
    if (type->name == "object") {
      throw_input_error(
          "{}: holds objects of Python, which are pickled: save numbers or texts: numpy.save(FILE, a.astype(float)), "
          "or a.astype(str)",
          name_);
    }
    return *type;
  }

  void read_type(const Literal& literal) {
    if (literal.kind == Literal::Kind::kText) {
      NpyType type = read_type_name(literal);
      if (type.kind == NpyType::Kind::kOther) {
        throw_input_error("{}: holds values of type {}, which no table can have{}", name_, type.name,
                          type.name.starts_with("complex")
                              ? ": save real and imaginary parts: numpy.save(FILE, numpy.c_[a.real, a.imag])"
                              : ": save numbers or texts: numpy.save(FILE, a.astype(float)), or a.astype(str)");
      }
      header_.element_bytes = type.bytes;
      header_.fields.push_back({"", std::move(type), 0});
      return;
    }
    header_.has_fields = true;
    header_.element_bytes = read_fields(literal, &header_.fields);
    for (std::size_t i = 0; i < header_.fields.size(); ++i) names_.push_back(header_.fields[i].name);
    std::ranges::sort(names_);
    const auto twice = std::ranges::adjacent_find(names_);
    if (twice != names_.end()) throw_input_error("{}: two fields are called {}", name_, printable(*twice));
  }

  /// Returns the bytes of all fields of an element; adds them to `fields`, where given.
  std::uint64_t read_fields(const Literal& literal, std::vector<NpyHeader::Field>* fields) const {
    if (literal.kind != Literal::Kind::kList) fail("'descr' is neither a type nor a list of fields");
    std::uint64_t offset = 0;
    for (const Literal& field : literal.items) {
      const bool is_field = field.kind == Literal::Kind::kTuple && (field.items.size() == 2 || field.items.size() == 3);
      if (!is_field) fail("a field of 'descr' is none");
      // A name may be the pair of a title and a name.
      const Literal& title = field.items[0];
      const bool has_title = title.kind == Literal::Kind::kTuple && title.items.size() == 2;
      const Literal& name = has_title ? title.items[1] : title;
      if (name.kind != Literal::Kind::kText) fail("the name of a field is no text");
      NpyType type = read_field_type(field.items[1]);
      if (field.items.size() == 3) {
        type.name += read_field_shape(field.items[2], type.bytes);
        type.kind = NpyType::Kind::kOther;
      }
      const std::size_t bytes = type.bytes;
      const bool is_padding = name.text.empty() && type.name.starts_with("void");
      if (fields != nullptr && !is_padding) {
        fields->push_back({name.text, std::move(type), static_cast<std::size_t>(offset)});
      }
      offset += bytes;
      if (offset > kMostNpyRowBytes) refuse_size();
    }
    return offset;
  }

  NpyType read_field_type(const Literal& literal) const {
    if (literal.kind == Literal::Kind::kText) return read_type_name(literal);
    NpyType type;
    type.bytes = static_cast<std::size_t>(read_fields(literal, nullptr));
    type.name = "fields";
    return type;
  }

  /// Returns the shape as text, and makes the bytes of a value those of all.
  std::string read_field_shape(const Literal& literal, std::size_t& bytes) const {
    std::string text;
    const std::span<const Literal> sizes =
        literal.kind == Literal::Kind::kTuple ? std::span<const Literal>(literal.items) : std::span(&literal, 1);
    std::uint64_t all = bytes;
    for (const Literal& size : sizes) {
      if (size.kind != Literal::Kind::kNumber) fail("the shape of a field is none");
      if (size.number > kMostNpyRowBytes || all * size.number > kMostNpyRowBytes) refuse_size();
      all *= size.number;
      text += fmt::format("{}{}", text.empty() ? "" : ", ", size.number);
    }
    bytes = static_cast<std::size_t>(all);
    return fmt::format("[{}]", text);
  }

  void read_shape(const Literal& literal) {
    if (literal.kind != Literal::Kind::kTuple) fail("'shape' is no tuple");
    for (const Literal& size : literal.items) {
      if (size.kind != Literal::Kind::kNumber) fail("'shape' has no sizes");
      header_.shape.push_back(size.number);
    }
    if (header_.shape.empty()) throw_input_error("{}: holds a single value; an array of rows is needed", name_);
    if (header_.has_fields && header_.shape.size() > 1) {
      throw_input_error("{}: holds fields in {} dimensions; with fields an array has one: numpy.save(FILE, a.ravel())",
                        name_, header_.shape.size());
    }
    for (std::size_t d = 1; d < header_.shape.size(); ++d) {
      const std::uint64_t size = header_.shape[d];
      if (size > kMostArrayColumns || header_.values_per_row * size > kMostArrayColumns) {
        throw_input_error("{}: dimension {} of {} makes a row of more than the {} values that an array can have", name_,
                          d, size, kMostArrayColumns);
      }
      header_.values_per_row *= size;
    }
    if (header_.row_bytes() > kMostNpyRowBytes) refuse_size();
    if (header_.row_bytes() == 0 && header_.values_per_row > 0 && !header_.fields.empty()) {
      throw_input_error("{}: its values have 0 bytes", name_);
    }
  }

  [[noreturn]] void refuse_size() const {
    throw_input_error("{}: a row has more than {} bytes", name_, kMostNpyRowBytes);
  }

  const std::string& name_;
  NpyHeader header_;
  std::vector<std::string> names_;
};

}  // namespace

NpyHeader read_npy_header(const std::string& name, io::ByteCursor& cursor, std::optional<std::uint64_t> n_bytes) {
  const auto read = [&](std::span<char> to, std::uint64_t begin) {
    const std::size_t n = cursor.read(to);
    if (n < to.size()) throw_input_error("{}: byte {}: the file ends within its header", name, begin + n);
  };
  std::array<char, kMagic.size() + 2> begin;
  read(begin, 0);
  if (!std::string_view(begin.data(), begin.size()).starts_with(kMagic)) {
    throw_input_error("{}: byte 0: files of NumPy begin with \\x93NUMPY", name);
  }
  const int version = static_cast<std::uint8_t>(begin[kMagic.size()]);
  const int minor = static_cast<std::uint8_t>(begin[kMagic.size() + 1]);
  if (version < 1 || version > 3 || minor != 0) {
    throw_input_error("{}: byte {}: the version is {}.{}; those of NumPy are 1.0, 2.0 and 3.0", name, kMagic.size(),
                      version, minor);
  }
  std::array<char, 4> length_bytes{};
  const std::size_t n_length = version == 1 ? 2 : 4;
  read(std::span(length_bytes).first(n_length), begin.size());
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < n_length; ++i) {
    length |= std::uint64_t{static_cast<unsigned char>(length_bytes[i])} << 8 * i;
  }
  const std::uint64_t text_begin = begin.size() + n_length;
  if (length > kMostHeaderBytes || (n_bytes && text_begin + length > *n_bytes)) {
    throw_input_error("{}: byte {}: the header has {} bytes; allowed are {}, and no more than the file has", name,
                      begin.size(), length, kMostHeaderBytes);
  }
  std::string text(static_cast<std::size_t>(length), '\0');
  read(text, text_begin);
  HeaderReader reader(name);
  try {
    reader.read(parse_python_literal(text, version < 3));
  } catch (const PythonFault& fault) {
    throw_input_error("{}: byte {}: the header is none of NumPy: {}", name, text_begin + fault.byte, fault.message);
  }
  NpyHeader header = std::move(reader).header();
  header.begin_bytes = text_begin + length;
  return header;
}

std::string npy_header(const std::vector<std::uint64_t>& shape) {
  std::string text = fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}{}), }}",
                                 fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  constexpr std::size_t kBefore = kMagic.size() + 4;  // version and length
  text.resize((kBefore + text.size() + 1 + 63) / 64 * 64 - kBefore - 1, ' ');
  text += '\n';
  std::string header = std::string(kMagic) + '\1' + '\0';
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

}  // namespace podere::columns
