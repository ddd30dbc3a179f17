#include "podere/io/row_frames.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "podere/base/error.h"
#include "podere/table/strided.h"

namespace podere::io {
namespace {

using table::Element;

/// Bytes as a sender writes them.
class Frames {
 public:
  template <typename T>
  Frames& put(T number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
    return *this;
  }
  template <typename T>
  Frames& put(Element element, const std::vector<T>& values) {
    put(static_cast<std::uint8_t>(element));
    for (const T value : values) put(value);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

ReadBytes reading(std::string_view bytes) {
  return [bytes](std::span<std::byte> to) mutable {
    if (to.size() > bytes.size()) throw Error("cut off");
    std::memcpy(to.data(), bytes.data(), to.size());
    bytes.remove_prefix(to.size());
  };
}

/// Two features of one block, one of its own, a label.
const RowLayout& layout() {
  static const RowLayout layout = {.schema = {.features = {"a", "b", "c"}, .label = "y"}, .blocks = {2, 1}};
  return layout;
}

Frames two_frames() {
  Frames frames;
  frames.put(std::uint32_t{2});
  frames.put<double>(Element::kFloat64, {1, 2, 3, std::nan("")}).put<std::int64_t>(Element::kInt64, {7, 16777217});
  frames.put<std::int32_t>(Element::kInt32, {0, 1});
  frames.put(std::uint32_t{1});
  frames.put<float>(Element::kFloat32, {5, 6})
      .put<std::uint8_t>(Element::kBool, {1})
      .put<float>(Element::kFloat32, {1});
  frames.put(std::uint32_t{0}).put(std::uint64_t{3});
  return frames;
}

std::string refusal(const std::string& bytes) {
  RoundedWholes rounded(3);
  FrameReader reader(layout(), "partition 4", reading(bytes));
  try {
    while (reader.next(rounded)) {
    }
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(RowFrames, ComeAsRowsThatCountFromTheBeginOfThePartition) {
  const Frames frames = two_frames();
  RoundedWholes rounded(3);
  FrameReader reader(layout(), "partition 4", reading(frames.bytes()));
  const auto first = reader.next(rounded);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->rows(), (table::RowRange{0, 2}));
  EXPECT_EQ(first->feature(0)[1], 3);
  EXPECT_EQ(first->feature(1)[0], 2);
  EXPECT_TRUE(std::isnan(first->feature(1)[1]));
  EXPECT_EQ(first->feature(2)[0], 7);
  EXPECT_EQ(first->label()[1], 1);
  const auto second = reader.next(rounded);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->rows(), (table::RowRange{2, 3}));
  EXPECT_EQ(second->feature(1)[0], 6);
  EXPECT_EQ(second->feature(2)[0], 1);
  EXPECT_FALSE(reader.next(rounded));
  EXPECT_EQ(reader.n_rows(), 3U);
  const auto found = rounded.join({"a", "b", "c"}, comm::Communicator::self());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].column, "c");
}

TEST(RowFrames, CutOffAnywhereAreNoTable) {
  const std::string bytes = two_frames().bytes();
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_THROW(refusal(bytes.substr(0, n)), Error) << n;
  }
}

TEST(RowFrames, WhatHasNoMeaningIsNamed) {
  Frames infinite;
  infinite.put(std::uint32_t{1}).put<double>(Element::kFloat64, {1, std::numeric_limits<double>::infinity()});
  EXPECT_NE(refusal(infinite.bytes()).find("partition 4 has infinity"), std::string::npos) << refusal(infinite.bytes());
  Frames unlabeled;
  unlabeled.put(std::uint32_t{1}).put<float>(Element::kFloat32, {1, 2}).put<float>(Element::kFloat32, {1});
  unlabeled.put<float>(Element::kFloat32, {std::nanf("")});
  EXPECT_NE(refusal(unlabeled.bytes()).find("column y of partition 4 has NaN"), std::string::npos);
  EXPECT_EQ(refusal(Frames().put(std::uint32_t{1}).put(std::uint8_t{11}).bytes()),
            "partition 4: a frame has values of the unknown kind 11");
  EXPECT_EQ(refusal(Frames().put(std::uint32_t{0}).put(std::uint64_t{9}).bytes()),
            "partition 4: 0 rows have come, 9 were sent");
  EXPECT_EQ(refusal(Frames().put(std::uint32_t{4000000000}).bytes()),
            "partition 4: a frame has 4000000000 rows of 4 columns, allowed are 256 MiB");
}

TEST(RowFrames, AHelloHasTheToken) {
  const auto refused = [](const std::string& bytes) {
    try {
      check_hello(reading(bytes), "secret");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  const auto hello = [](std::string_view token) {
    return "PODEROW1" + Frames().put(static_cast<std::uint32_t>(token.size())).bytes() + std::string(token);
  };
  EXPECT_EQ(refused(hello("secret")), "accepted");
  EXPECT_EQ(refused(hello("secreT")), "the token is not that of the session");
  EXPECT_EQ(refused(hello("")), "the token is not that of the session");
  EXPECT_EQ(refused(hello(std::string(300, 'x'))), "a token has at most 256 bytes");
  EXPECT_EQ(refused("GET / HTTP/1.1\r\n"), "these are no rows of Podere");
  EXPECT_THROW(refused("PODE"), Error);
}

TEST(RowFrames, LayoutsNameEveryFeature) {
  EXPECT_NO_THROW(check_layout(layout()));
  EXPECT_THROW(check_layout({.schema = {.features = {"a"}}, .blocks = {}}), InputError);
  EXPECT_THROW(check_layout({.schema = {.features = {"a"}}, .blocks = {2}}), InputError);
  EXPECT_THROW(check_layout({.schema = {.features = {"a"}}, .blocks = {0, 1}}), InputError);
  EXPECT_THROW(check_layout({.schema = {}, .blocks = {}}), InputError);
}

}  // namespace
}  // namespace podere::io
