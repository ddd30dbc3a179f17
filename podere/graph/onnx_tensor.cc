#include "podere/graph/onnx_tensor.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <string_view>

#include "podere/base/error.h"
#include "podere/base/number.h"
#include "podere/base/printable.h"

namespace podere::graph {
namespace {

using onnx::TensorProto;

float from_half(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
  const std::uint32_t rest = bits & 0x7FFFU;
  // The exponent moves by 127 - 15 through an exact product, which gives subnormal numbers their due.
  float value = std::bit_cast<float>(rest << 13) * 0x1p112F;
  if (rest >= 0x7C00U) value = std::bit_cast<float>(0x7F800000U | (rest & 0x3FFU) << 13);
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
}

float from_bfloat16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

std::size_t bytes_of_element(int type) {
  switch (type) {
    case TensorProto::BOOL:
    case TensorProto::INT8:
    case TensorProto::UINT8:
      return 1;
    case TensorProto::FLOAT16:
    case TensorProto::BFLOAT16:
    case TensorProto::INT16:
    case TensorProto::UINT16:
      return 2;
    case TensorProto::FLOAT:
    case TensorProto::INT32:
    case TensorProto::UINT32:
      return 4;
    case TensorProto::DOUBLE:
    case TensorProto::INT64:
    case TensorProto::UINT64:
      return 8;
    default:
      return 0;
  }
}

std::string name_of_type(int type) {
  const std::string& name = TensorProto::DataType_Name(static_cast<TensorProto::DataType>(type));
  return name.empty() ? "unknown (" + std::to_string(type) + ")" : name;
}

template <typename From, typename To, typename Convert>
void convert_raw(std::string_view raw, std::vector<To>& values, const Convert& convert) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    From value;
    std::memcpy(&value, raw.data() + i * sizeof(From), sizeof(From));
    values[i] = convert(value);
  }
}

void read_raw(int type, std::string_view raw, Tensor& tensor) {
  const auto to_float = [](auto value) { return static_cast<float>(value); };
  const auto to_integer = [](auto value) { return static_cast<std::int64_t>(value); };
  switch (type) {
    case TensorProto::FLOAT:
      if (!raw.empty()) std::memcpy(tensor.floats.data(), raw.data(), raw.size());
      return;
    case TensorProto::DOUBLE:
      return convert_raw<double>(raw, tensor.floats, to_float);
    case TensorProto::FLOAT16:
      return convert_raw<std::uint16_t>(raw, tensor.floats, from_half);
    case TensorProto::BFLOAT16:
      return convert_raw<std::uint16_t>(raw, tensor.floats, from_bfloat16);
    case TensorProto::INT8:
      return convert_raw<std::int8_t>(raw, tensor.integers, to_integer);
    case TensorProto::BOOL:
    case TensorProto::UINT8:
      return convert_raw<std::uint8_t>(raw, tensor.integers, to_integer);
    case TensorProto::INT16:
      return convert_raw<std::int16_t>(raw, tensor.integers, to_integer);
    case TensorProto::UINT16:
      return convert_raw<std::uint16_t>(raw, tensor.integers, to_integer);
    case TensorProto::INT32:
      return convert_raw<std::int32_t>(raw, tensor.integers, to_integer);
    case TensorProto::UINT32:
      return convert_raw<std::uint32_t>(raw, tensor.integers, to_integer);
    default:
      return convert_raw<std::int64_t>(raw, tensor.integers, to_integer);
  }
}

void read_fields(const TensorProto& proto, const std::string& what, Tensor& tensor) {
  const auto copy = [&](const auto& field, auto& values, const auto& convert) {
    if (static_cast<std::size_t>(field.size()) != values.size())
      throw_input_error("{} has the shape {} but {} values", what, to_text(tensor.shape), field.size());
    std::transform(field.begin(), field.end(), values.begin(), convert);
  };
  switch (proto.data_type()) {
    case TensorProto::FLOAT:
      return copy(proto.float_data(), tensor.floats, [](float value) { return value; });
    case TensorProto::DOUBLE:
      return copy(proto.double_data(), tensor.floats, [](double value) { return static_cast<float>(value); });
    case TensorProto::FLOAT16:
      return copy(proto.int32_data(), tensor.floats, [](int v) { return from_half(static_cast<std::uint16_t>(v)); });
    case TensorProto::BFLOAT16:
      return copy(proto.int32_data(), tensor.floats,
                  [](int v) { return from_bfloat16(static_cast<std::uint16_t>(v)); });
    case TensorProto::INT64:
      return copy(proto.int64_data(), tensor.integers, [](auto value) { return static_cast<std::int64_t>(value); });
    case TensorProto::UINT32:
    case TensorProto::UINT64:
      return copy(proto.uint64_data(), tensor.integers, [](auto value) { return static_cast<std::int64_t>(value); });
    default:
      return copy(proto.int32_data(), tensor.integers, [](auto value) { return static_cast<std::int64_t>(value); });
  }
}

/// The tensor's bytes in a file within `folder`.
std::string read_external(const TensorProto& proto, const std::string& what, const WeightsFolder& folder,
                          std::size_t n_bytes) {
  namespace fs = std::filesystem;
  if (!folder) throw_input_error("{} lies in another file; there is no folder to read it from", what);
  std::string location;
  std::uint64_t offset = 0;
  std::uint64_t length = n_bytes;
  for (const auto& entry : proto.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() != "offset" && entry.key() != "length") continue;
    const auto number = parse_count(entry.value());
    if (!number) throw_input_error("{} has the {} {} in its file", what, entry.key(), printable(entry.value()));
    (entry.key() == "offset" ? offset : length) = *number;
  }
  if (length != n_bytes) throw_input_error("{} needs {} bytes, but its place in a file has {}", what, n_bytes, length);
  std::error_code failure;
  const fs::path root = fs::weakly_canonical(*folder, failure);
  const fs::path file = fs::weakly_canonical(root / fs::path(location), failure);
  const auto outside = std::mismatch(root.begin(), root.end(), file.begin(), file.end());
  if (location.empty() || failure || outside.first != root.end() || fs::path(location).is_absolute())
    throw_input_error("{} lies in {}, outside the model's folder: only files in it are read", what,
                      printable(location));
  const std::uint64_t size = fs::is_regular_file(file, failure) ? fs::file_size(file, failure) : 0;
  if (failure || size == 0)
    throw_input_error("{} lies in '{}', which is no file that can be read", what, file.string());
  if (offset > size || length > size - offset)
    throw_input_error("{}: '{}' has {} bytes, the tensor lies at {} to {}", what, file.string(), size, offset,
                      offset + length);
  std::string bytes(n_bytes, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(offset));
  if (!stream.read(bytes.data(), static_cast<std::streamsize>(n_bytes)))
    throw_input_error("{}: '{}' cannot be read", what, file.string());
  return bytes;
}

}  // namespace

TensorPtr to_tensor(const TensorProto& proto, const std::string& what, const WeightsFolder& folder) {
  Tensor tensor;
  const std::size_t bytes_each = bytes_of_element(proto.data_type());
  if (bytes_each == 0)
    throw_input_error("{} is of the type {}: numbers of 8 to 64 bits and truth values are read", what,
                      name_of_type(proto.data_type()));
  if (proto.has_segment()) throw_input_error("{} is a segment of a tensor: whole tensors are read", what);
  tensor.shape.assign(proto.dims().begin(), proto.dims().end());
  const std::size_t n = n_elements(tensor.shape, what);
  tensor.is_float = proto.data_type() == TensorProto::FLOAT || proto.data_type() == TensorProto::DOUBLE ||
                    proto.data_type() == TensorProto::FLOAT16 || proto.data_type() == TensorProto::BFLOAT16;
  const bool is_external = proto.data_location() == TensorProto::EXTERNAL;
  std::string bytes;
  std::string_view raw;
  if (is_external) {
    bytes = read_external(proto, what, folder, n * bytes_each);
    raw = bytes;
  } else if (proto.has_raw_data()) {
    raw = proto.raw_data();
    if (raw.size() != n * bytes_each)
      throw_input_error("{} has the shape {}, which needs {} bytes, but {}", what, to_text(tensor.shape),
                        n * bytes_each, raw.size());
  } else if (n > proto.ByteSizeLong()) {  // before memory is taken for it
    throw_input_error("{} has the shape {} but fewer values", what, to_text(tensor.shape));
  }
  if (tensor.is_float) {
    tensor.floats.resize(n);
  } else {
    tensor.integers.resize(n);
  }
  if (is_external || proto.has_raw_data()) {
    read_raw(proto.data_type(), raw, tensor);
  } else {
    read_fields(proto, what, tensor);
  }
  return std::make_shared<const Tensor>(std::move(tensor));
}

}  // namespace podere::graph
