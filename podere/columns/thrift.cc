#include "podere/columns/thrift.h"

namespace podere::columns {

std::uint8_t ThriftReader::read_byte() {
  if (rest_.empty()) throw ThriftFault{true};
  const char byte = rest_.front();
  rest_ = rest_.subspan(1);
  return static_cast<std::uint8_t>(byte);
}

std::uint64_t ThriftReader::read_varint() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const std::uint8_t byte = read_byte();
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  throw ThriftFault{false};
}

std::string_view ThriftReader::read_bytes(std::uint64_t n) {
  if (n > rest_.size()) throw ThriftFault{true};
  const std::string_view bytes(rest_.data(), static_cast<std::size_t>(n));
  rest_ = rest_.subspan(static_cast<std::size_t>(n));
  return bytes;
}

std::int64_t ThriftReader::read_int() {
  const std::uint64_t zigzag = read_varint();
  return static_cast<std::int64_t>(zigzag >> 1) ^ -static_cast<std::int64_t>(zigzag & 1);
}

std::string_view ThriftReader::read_binary() { return read_bytes(read_varint()); }

bool ThriftReader::next_field(std::int16_t& id, Type& type) {
  const std::uint8_t byte = read_byte();
  if (byte == 0) return false;
  const int type_number = byte & 0x0f, delta = byte >> 4;
  if (type_number < static_cast<int>(Type::kTrue) || type_number > static_cast<int>(Type::kStruct)) {
    throw ThriftFault{false};
  }
  type = static_cast<Type>(type_number);
  id = static_cast<std::int16_t>(delta != 0 ? id + delta : read_int());
  return true;
}

ThriftReader::List ThriftReader::begin_list() {
  const std::uint8_t byte = read_byte();
  const std::uint64_t n = byte >> 4 == 15 ? read_varint() : byte >> 4;
  const int element = byte & 0x0f;
  if (n > rest_.size()) throw ThriftFault{true};  // each takes a byte at least
  if (n > 0 && (element < static_cast<int>(Type::kTrue) || element > static_cast<int>(Type::kStruct))) {
    throw ThriftFault{false};
  }
  return {static_cast<Type>(element), static_cast<std::uint32_t>(n)};
}

void ThriftReader::skip(Type type) {
  switch (type) {
    case Type::kTrue:
    case Type::kFalse:
      return;
    case Type::kByte:
      read_byte();
      return;
    case Type::kInt16:
    case Type::kInt32:
    case Type::kInt64:
      read_varint();
      return;
    case Type::kDouble:
      read_bytes(8);
      return;
    case Type::kBinary:
      read_binary();
      return;
    case Type::kStruct:
      read_struct([](int, Type) { return false; });
      return;
    case Type::kList:
    case Type::kSet: {
      const Depth depth(*this);
      const auto [element, n] = begin_list();
      // A boolean in a list has a byte of its own.
      const bool is_byte = element == Type::kTrue || element == Type::kFalse;
      for (std::uint32_t i = 0; i < n; ++i) skip(is_byte ? Type::kByte : element);
      return;
    }
    case Type::kMap:
      throw ThriftFault{false};  // Parquet has none
  }
}

}  // namespace podere::columns
