#include "podere/base/tcp.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>

#include "podere/base/error.h"

namespace podere {
namespace {

TcpServer echo_server(std::size_t most_connections = 8) {
  return {"127.0.0.1", most_connections, [](TcpSocket& socket) {
            std::array<std::byte, 4> bytes;
            for (;;) {
              socket.read(bytes);
              if (bytes[0] == std::byte{0}) throw InputError("this connection alone");
              socket.write(bytes);
            }
          }};
}

std::string answer(TcpSocket& socket, std::string_view text) {
  socket.write(text);
  std::string back(text.size(), ' ');
  socket.read(std::as_writable_bytes(std::span(back)));
  return back;
}

TEST(Tcp, ConnectionsAreServedAtOnce) {
  const TcpServer server = echo_server();
  TcpSocket first = TcpSocket::connect("127.0.0.1", server.port());
  TcpSocket second = TcpSocket::connect("localhost", server.port());
  EXPECT_EQ(answer(second, "abcdefgh"), "abcdefgh");
  EXPECT_EQ(answer(first, "1234"), "1234");
  EXPECT_EQ(first.local_address(), "127.0.0.1");
}

TEST(Tcp, WhatOneConnectionThrowsEndsNoOther) {
  const TcpServer server = echo_server();
  TcpSocket kept = TcpSocket::connect("127.0.0.1", server.port());
  TcpSocket ended = TcpSocket::connect("127.0.0.1", server.port());
  ended.write(std::string_view("\0abc", 4));
  std::array<std::byte, 1> byte;
  EXPECT_THROW(ended.read(byte), Error);
  EXPECT_EQ(answer(kept, "abcd"), "abcd");
}

TEST(Tcp, AServerThatGoesEndsItsConnections) {
  auto server = std::make_unique<TcpServer>("127.0.0.1", 8, [](TcpSocket& socket) {
    std::array<std::byte, 4> bytes;
    socket.read(bytes);
    socket.write(bytes);
    socket.read(bytes);  // waits until it is shut down
  });
  const int port = server->port();
  TcpSocket socket = TcpSocket::connect("127.0.0.1", port);
  EXPECT_EQ(answer(socket, "abcd"), "abcd");
  server.reset();
  std::array<std::byte, 1> byte;
  EXPECT_THROW(socket.read(byte), Error);
  EXPECT_THROW(TcpSocket::connect("127.0.0.1", port), InputError);
}

TEST(Tcp, MoreConnectionsThanAllowedAreEnded) {
  const TcpServer server = echo_server(1);
  TcpSocket kept = TcpSocket::connect("127.0.0.1", server.port());
  EXPECT_EQ(answer(kept, "abcd"), "abcd");
  TcpSocket refused = TcpSocket::connect("127.0.0.1", server.port());
  std::array<std::byte, 1> byte;
  EXPECT_THROW(refused.read(byte), Error);
  EXPECT_EQ(answer(kept, "abcd"), "abcd");
}

TEST(Tcp, AReaderThatWaitsTooLongGivesUp) {
  const TcpServer server = echo_server();
  TcpSocket socket = TcpSocket::connect("127.0.0.1", server.port());
  socket.limit_reading(1);
  std::array<std::byte, 1> byte;
  EXPECT_THROW(socket.read(byte), Error);
}

TEST(Tcp, AddressesThatAreNoneAreNamed) {
  EXPECT_THROW(TcpServer("no address", 1, [](TcpSocket&) {}), InputError);
  EXPECT_EQ(address_towards("127.0.0.1"), "127.0.0.1");
  EXPECT_THROW(address_towards(""), InputError);
}

}  // namespace
}  // namespace podere
