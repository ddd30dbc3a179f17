#include "podere/io/row_inlet.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "podere/base/error.h"
#include "podere/io/row_outlet.h"

namespace podere::io {
namespace {

template <typename T>
std::string raw(T number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

std::string hello(const std::string& token) {
  return std::string(kRowsMagic) + raw(static_cast<std::uint32_t>(token.size())) + token;
}

/// One frame of a column of float32.
std::string frame(const std::vector<float>& values) {
  std::string bytes = raw(static_cast<std::uint32_t>(values.size())) + raw(std::uint8_t{9});
  for (const float value : values) bytes += raw(value);
  return bytes;
}

std::string end_of(std::uint64_t n_rows) { return raw(std::uint32_t{0}) + raw(n_rows); }

struct Reply {
  Answer code;
  std::string text;
  bool operator==(const Reply&) const = default;
};

Reply reply_of(TcpSocket& socket) {
  const ReadBytes read = [&](std::span<std::byte> bytes) { socket.read(bytes); };
  const auto code = read_number<std::uint8_t>(read);
  std::string text(read_number<std::uint32_t>(read), ' ');
  read(std::as_writable_bytes(std::span(text)));
  return {static_cast<Answer>(code), text};
}

/// A connection that has introduced itself.
struct Sending {
  Sending(const RowInlet& inlet, std::uint32_t partition, const std::string& token = "secret")
      : socket(TcpSocket::connect("127.0.0.1", inlet.port())) {
    socket.write(hello(token) + raw(partition));
    reply = reply_of(socket);
  }
  Reply send(const std::string& bytes) {
    socket.write(bytes);
    return reply_of(socket);
  }
  TcpSocket socket;
  Reply reply;
};

RowInlet::Options one_column(int rank = 0, int n_ranks = 1) {
  return {.layout = {.schema = {.features = {"a"}}, .blocks = {1}},
          .name = "t",
          .token = "secret",
          .rank = rank,
          .n_ranks = n_ranks};
}

TEST(RowInlet, APartitionCountsOnceHoweverOftenItIsSent) {
  RowInlet inlet(one_column(), "127.0.0.1");
  Sending first(inlet, 3);
  EXPECT_EQ(first.reply, (Reply{Answer::kOk, ""}));
  Sending rival(inlet, 3);  // of the same partition, at the same time
  EXPECT_EQ(rival.reply.code, Answer::kOk);
  rival.socket.write(frame({7}));
  EXPECT_EQ(first.send(frame({1, 2}) + frame({3}) + end_of(3)), (Reply{Answer::kOk, "3"}));
  EXPECT_EQ(rival.send(frame({8}) + end_of(2)), (Reply{Answer::kHaveIt, "3"}));
  EXPECT_EQ(Sending(inlet, 3).reply, (Reply{Answer::kHaveIt, "3"}));
  const Partitions partitions = inlet.take();
  ASSERT_EQ(partitions.size(), 1U);
  ASSERT_EQ(partitions.at(3).size(), 2U);
  EXPECT_EQ(partitions.at(3)[1].feature(0)[0], 3);
  EXPECT_EQ(partitions.at(3)[1].rows().begin, 2U);
}

TEST(RowInlet, WhatIsNotWholeIsForgotten) {
  RowInlet inlet(one_column(), "127.0.0.1");
  {
    Sending lost(inlet, 0);
    lost.socket.write(frame({1, 2}));
  }
  EXPECT_EQ(Sending(inlet, 0).send(frame({5}) + end_of(1)).code, Answer::kOk);
  EXPECT_EQ(Sending(inlet, 1).send(end_of(0)), (Reply{Answer::kOk, "0"}));
  Sending open(inlet, 2);
  open.socket.write(frame({1}));
  const Partitions partitions = inlet.take();
  EXPECT_EQ(partitions.size(), 2U);
  EXPECT_EQ(partitions.at(0).at(0).feature(0)[0], 5);
  EXPECT_TRUE(partitions.at(1).empty());
}

TEST(RowInlet, WhatIsWrongIsAnsweredAndEndsNothingElse) {
  RowInlet inlet(one_column(1, 2), "127.0.0.1");
  EXPECT_EQ(Sending(inlet, 1, "secreT").reply, (Reply{Answer::kRefused, "the token is not that of the session"}));
  EXPECT_EQ(Sending(inlet, 2).reply, (Reply{Answer::kRefused, "partition 2 belongs to executor 0, this is 1"}));
  EXPECT_EQ(Sending(inlet, 3).send(frame({1}) + end_of(2)),
            (Reply{Answer::kRefused, "partition 3: 1 rows have come, 2 were sent"}));
  EXPECT_EQ(Sending(inlet, 1).send(frame({1}) + end_of(1)).code, Answer::kOk);
  EXPECT_EQ(inlet.take().size(), 1U);
}

TEST(RowInlet, LayoutsAndAddressesAreChecked) {
  RowInlet::Options options = one_column();
  options.layout.blocks = {2};
  EXPECT_THROW(RowInlet(options, "127.0.0.1"), InputError);
  EXPECT_THROW(RowInlet(one_column(), "192.0.2.1"), InputError);
}

table::Table held_rows() {
  table::Table table({.features = {"a", "b"}, .label = "y"}, 100, {10, 15});
  for (std::size_t j = 0; j < 3; ++j) {
    for (std::size_t i = 0; i < 5; ++i) table.column(j)[i] = static_cast<float>(10 * j + i);
  }
  return table;
}

std::string request(std::uint64_t begin, std::uint64_t end, std::uint32_t frame_rows, const std::string& token) {
  return hello(token) + raw(begin) + raw(end) + raw(frame_rows);
}

TEST(RowOutlet, GivesRowsAsTheyWereWhenItWasMade) {
  table::Table table = held_rows();
  const RowOutlet outlet(table, "secret", "127.0.0.1");
  table.label()[2] = 99;  // as a job numbers labels anew
  TcpSocket socket = TcpSocket::connect("127.0.0.1", outlet.port());
  socket.write(request(11, 14, 2, "secret"));
  EXPECT_EQ(reply_of(socket).code, Answer::kOk);
  const ReadBytes read = [&](std::span<std::byte> bytes) { socket.read(bytes); };
  std::vector<std::vector<float>> columns(3);
  while (const auto n = read_number<std::uint32_t>(read)) {
    for (auto& column : columns) {
      for (std::uint32_t i = 0; i < n; ++i) column.push_back(read_number<float>(read));
    }
  }
  EXPECT_EQ(columns, (std::vector<std::vector<float>>{{1, 2, 3}, {11, 12, 13}, {21, 22, 23}}));
}

TEST(RowOutlet, RefusesOtherTokensAndRows) {
  const table::Table table = held_rows();
  const RowOutlet outlet(table, "secret", "127.0.0.1");
  const auto answer = [&](const std::string& bytes) {
    TcpSocket socket = TcpSocket::connect("127.0.0.1", outlet.port());
    socket.write(bytes);
    return reply_of(socket);
  };
  EXPECT_EQ(answer(request(10, 11, 1, "other")).text, "the token is not that of the session");
  EXPECT_EQ(answer(request(9, 11, 1, "secret")).text, "rows 9 to 11 are not here: there are 10 to 15");
  EXPECT_EQ(answer(request(10, 16, 1, "secret")).code, Answer::kRefused);
  EXPECT_EQ(answer(request(12, 11, 1, "secret")).code, Answer::kRefused);
  EXPECT_EQ(answer(request(10, 11, 0, "secret")).code, Answer::kRefused);
}

}  // namespace
}  // namespace podere::io
