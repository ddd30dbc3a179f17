// Where partitions of rows arrive, in parallel, from processes that know a token.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "podere/base/tcp.h"
#include "podere/io/row_frames.h"
#include "podere/table/table.h"

namespace podere::io {

/// Rows of a partition, in their order: row numbers count from the begin of the partition.
using Partition = std::vector<table::Table>;
using Partitions = std::map<std::uint32_t, Partition>;

/// Takes the partitions p with p % n_ranks == rank, each whole and once, however often it is sent. A connection has a
/// hello, u32 p, an answer, frames, an end and an answer. A partition that is there already is answered kHaveIt, with
/// the number of its rows; one whose connection ends too early is forgotten, and may come again. What is wrong is
/// answered kRefused, with a line that says it. Memory: the rows, and a block of a frame for each connection.
class RowInlet {
 public:
  struct Options {
    RowLayout layout;
    std::string name;  ///< of the table, for messages
    std::string token;
    int rank = 0;
    int n_ranks = 1;
    std::size_t most_connections = 1024;
  };

  /// Listens at any free port of `address`. Throws InputError as TcpServer.
  RowInlet(Options options, const std::string& address);

  int port() const { return server_->port(); }
  /// Rows that have arrived, whether their partition is whole or not.
  std::uint64_t n_rows() const { return n_rows_; }
  /// What was rounded in these rows.
  const RoundedWholes& rounded() const { return rounded_; }

  /// Ends all connections, and gives the whole partitions away.
  Partitions take();

 private:
  void serve(TcpSocket& socket);
  /// The number of rows of a partition that is there.
  std::optional<std::uint64_t> find(std::uint32_t number);
  /// The partition that comes next on the connection. Throws InputError for what is wrong.
  std::pair<std::uint32_t, Partition> receive(TcpSocket& socket);
  void check_memory() const;

  const Options options_;
  RoundedWholes rounded_;
  std::atomic<std::uint64_t> n_rows_ = 0;
  std::mutex mutex_;
  Partitions partitions_;  // guarded by mutex_
  std::unique_ptr<TcpServer> server_;
};

}  // namespace podere::io
