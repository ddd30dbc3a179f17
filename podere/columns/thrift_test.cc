#include "podere/columns/thrift.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace podere::columns {
namespace {

using Type = ThriftReader::Type;
using namespace std::string_view_literals;

/// What a struct of whole numbers, texts and lists of them has, in order.
std::string all_of(std::string_view bytes) {
  ThriftReader reader(bytes);
  std::string text;
  try {
    reader.read_struct([&](int id, Type type) {
      text += std::to_string(id) + ':';
      if (is_int(type)) {
        text += std::to_string(reader.read_int()) + ' ';
        return true;
      }
      if (type == Type::kBinary) {
        text += std::string(reader.read_binary()) + ' ';
        return true;
      }
      if (type == Type::kList) {
        reader.read_list(Type::kInt32, [&] { text += std::to_string(reader.read_int()) + ','; });
        text += ' ';
        return true;
      }
      text += "? ";
      return false;
    });
  } catch (const ThriftFault& fault) {
    return text + (fault.at_end ? "end" : "fault");
  }
  return text + std::to_string(reader.position());
}

TEST(Thrift, FieldsComeOneAfterAnother) {
  EXPECT_EQ(all_of("\x15\x02\x16\x03\x18\x02hi\x29\x25\x02\x04\x00"sv), "1:1 2:-2 3:hi 5:1,2, 13");
  EXPECT_EQ(all_of("\x05\x50\x02\x00"sv), "40:1 4");                 // a number of its own
  EXPECT_EQ(all_of("\x11\x12\x00"sv), "1:? 2:? 3");                  // booleans have no bytes
  EXPECT_EQ(all_of("\x1c\x15\x02\x00\x15\x04\x00"sv), "1:? 2:2 7");  // a struct is read over
}

TEST(Thrift, WhatEndsOrIsNoneIsAFault) {
  EXPECT_EQ(all_of(""sv), "end");
  EXPECT_EQ(all_of("\x15"sv), "1:end");
  EXPECT_EQ(all_of("\x18\x05hi"sv), "1:end");
  EXPECT_EQ(all_of("\x1f\x00"sv), "fault");
  EXPECT_EQ(all_of("\x15\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"sv), "1:fault");
  EXPECT_EQ(all_of("\x19\xf5\xff\xff\xff\x0f\x00"sv), "1:end");  // a list that is longer than the bytes
  EXPECT_EQ(all_of(std::string(100, '\x1c')), "1:? fault");      // too deep
}

}  // namespace
}  // namespace podere::columns
