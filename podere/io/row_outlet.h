// Where the rows of a table can be fetched, in parallel, by processes that know a token.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "podere/base/tcp.h"
#include "podere/table/table.h"

namespace podere::io {

/// Serves ranges of the rows that are held here. A connection has a hello (row_frames.h), u64 begin and end (global row
/// numbers), u32 rows of a frame, and an answer; then frames: u32 n_rows > 0, and of each column, features, label and
/// weight, n_rows float32; at the end u32 0. Memory: a copy of the label, which jobs may number anew meanwhile.
class RowOutlet {
 public:
  /// Borrows `table`, whose features and weights must not change. Throws InputError as TcpServer.
  RowOutlet(const table::Table& table, std::string token, const std::string& address);

  const std::string& token() const { return token_; }
  const std::string& address() const { return address_; }
  int port() const { return server_->port(); }

 private:
  void serve(TcpSocket& socket) const;
  void send(TcpSocket& socket, table::RowRange rows, std::size_t frame_rows) const;

  const table::Table& table_;
  const std::string token_;
  const std::string address_;
  const std::vector<float> label_;
  std::unique_ptr<TcpServer> server_;
};

}  // namespace podere::io
