// Bytes between processes of different machines, or of this one.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <list>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace podere {

/// One end of a connection. Moved, not copied; closes when it goes. A peer whose machine is gone is noticed within a
/// minute where nothing is sent, and as late as the system gives up (Linux: about 15 minutes) where bytes are on their
/// way.
class TcpSocket {
 public:
  explicit TcpSocket(int descriptor);
  /// Throws InputError that names the place and the cause if no process listens there.
  static TcpSocket connect(const std::string& host, int port);
  TcpSocket(TcpSocket&& other) noexcept;
  TcpSocket& operator=(TcpSocket&&) = delete;
  ~TcpSocket();

  /// Fills `bytes`. Throws Error if the other side ends the connection first, or the time limit passes.
  void read(std::span<std::byte> bytes);
  /// Throws Error if the other side has gone.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  /// For each wait of read(); 0: none.
  void limit_reading(int seconds);
  /// Ends the connection in both directions: a thread that waits in it returns. Thread-safe.
  void shut_down();
  /// Says that no more is written, and takes in what the other side still sends, so that it can read the last words.
  void finish();
  /// The address of this machine in this connection.
  std::string local_address() const;
  /// Gives the descriptor away.
  int release();

 private:
  int descriptor_;
};

/// The address of this machine by which it would reach `host`; nothing is sent. Throws InputError for a host that has
/// none.
std::string address_towards(const std::string& host);

/// Listens at an address of this machine and calls `serve` for each connection, in a thread of its own. What `serve`
/// throws ends its connection alone. When this goes, all connections end.
class TcpServer {
 public:
  using Serve = std::function<void(TcpSocket& socket)>;

  /// At any port that is free. Throws InputError that names the address and the cause.
  TcpServer(const std::string& address, std::size_t most_connections, Serve serve);
  ~TcpServer();
  TcpServer(const TcpServer&) = delete;
  TcpServer& operator=(const TcpServer&) = delete;

  int port() const { return port_; }

 private:
  struct Connection {
    explicit Connection(TcpSocket accepted) : socket(std::move(accepted)) {}
    TcpSocket socket;
    std::atomic<bool> is_done = false;
    std::jthread thread;
  };
  void accept_all(const std::stop_token& stop);

  const std::size_t most_connections_;
  const Serve serve_;
  int descriptor_ = -1;
  int port_ = 0;
  std::list<Connection> connections_;  // of the thread below
  std::jthread acceptor_;
};

}  // namespace podere
