// The compact protocol of Apache Thrift, in which Parquet writes what its files hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace podere::columns {

/// The bytes are no such text, or end before it does.
struct ThriftFault {
  bool at_end;  ///< more bytes may have been better
};

/// Reads values one after another, from the outermost struct inwards; borrows the bytes. Throws ThriftFault; never
/// reads out of bounds, nor deeper than kDeepest. Source: Apache Thrift, "Thrift Compact protocol encoding".
class ThriftReader {
 public:
  explicit ThriftReader(std::span<const char> bytes) : rest_(bytes), size_(bytes.size()) {}

  /// Bytes that were read.
  std::size_t position() const { return size_ - rest_.size(); }

  /// A value that is there, of one of the kinds below.
  enum class Type : std::uint8_t {
    kTrue = 1,
    kFalse,
    kByte,
    kInt16,
    kInt32,
    kInt64,
    kDouble,
    kBinary,
    kList,
    kSet,
    kMap,
    kStruct
  };

  /// Calls `take(id, type)` for each field of the struct that begins here. What it does not read is read over: it
  /// returns whether it has.
  template <typename Take>
  void read_struct(Take&& take) {
    const Depth depth(*this);
    std::int16_t id = 0;
    for (Type type; next_field(id, type);) {
      if (!take(id, type)) skip(type);
    }
  }

  /// Calls `take()` for each element of the list that begins here, which must read it, if they are of `type`; else
  /// reads over them.
  template <typename Take>
  void read_list(Type type, Take&& take) {
    const Depth depth(*this);
    const auto [element, n] = begin_list();
    for (std::uint32_t i = 0; i < n; ++i) element == type ? take() : skip(element);
  }

  /// A field of any whole number, or nothing where it is of another type.
  std::int64_t read_int();
  std::string_view read_binary();
  void skip(Type type);

 private:
  static constexpr int kDeepest = 32;
  struct Depth {
    explicit Depth(ThriftReader& of) : reader(of) {
      if (++reader.depth_ > kDeepest) throw ThriftFault{false};
    }
    ~Depth() { --reader.depth_; }
    ThriftReader& reader;
  };
  struct List {
    Type element;
    std::uint32_t size;
  };

  std::uint8_t read_byte();
  std::uint64_t read_varint();
  std::string_view read_bytes(std::uint64_t n);
  bool next_field(std::int16_t& id, Type& type);
  List begin_list();

  std::span<const char> rest_;
  std::size_t size_;
  int depth_ = 0;
};

/// Whether fields of this type can be read by read_int().
constexpr bool is_int(ThriftReader::Type type) {
  using enum ThriftReader::Type;
  return type == kInt16 || type == kInt32 || type == kInt64;
}

}  // namespace podere::columns
