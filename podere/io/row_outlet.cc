#include "podere/io/row_outlet.h"

#include <algorithm>
#include <span>
#include <utility>

#include "podere/base/error.h"
#include "podere/io/row_frames.h"

namespace podere::io {
namespace {

constexpr std::size_t kMostReaders = 1024;
constexpr int kRequestSeconds = 10;

}  // namespace

RowOutlet::RowOutlet(const table::Table& table, std::string token, const std::string& address)
    : table_(table), token_(std::move(token)), address_(address), label_(table.label().begin(), table.label().end()) {
  server_ = std::make_unique<TcpServer>(address, kMostReaders, [this](TcpSocket& socket) { serve(socket); });
}

void RowOutlet::serve(TcpSocket& socket) const {
  const ReadBytes read = [&](std::span<std::byte> bytes) { socket.read(bytes); };
  try {
    socket.limit_reading(kRequestSeconds);
    check_hello(read, token_);
    table::RowRange rows;
    rows.begin = read_number<std::uint64_t>(read);
    rows.end = read_number<std::uint64_t>(read);
    const std::size_t frame_rows = read_number<std::uint32_t>(read);
    const table::RowRange held = table_.rows();
    if (rows.begin > rows.end || rows.begin < held.begin || rows.end > held.end || frame_rows == 0) {
      throw_input_error("rows {} to {} are not here: there are {} to {}", rows.begin, rows.end, held.begin, held.end);
    }
    write_answer(socket, Answer::kOk);
    send(socket, rows, frame_rows);
  } catch (const InputError& error) {
    write_answer(socket, Answer::kRefused, error.what());
    socket.finish();
  }
}

void RowOutlet::send(TcpSocket& socket, table::RowRange rows, std::size_t frame_rows) const {
  for (std::uint64_t begin = rows.begin; begin < rows.end; begin += frame_rows) {
    const auto n_rows = static_cast<std::uint32_t>(std::min<std::uint64_t>(frame_rows, rows.end - begin));
    const std::size_t first = begin - table_.rows().begin;
    socket.write(std::as_bytes(std::span(&n_rows, 1)));
    const auto send_column = [&](std::span<const float> column) {
      socket.write(std::as_bytes(column.subspan(first, n_rows)));
    };
    for (std::size_t j = 0; j < table_.n_features(); ++j) send_column(table_.feature(j));
    if (!label_.empty()) send_column(label_);
    if (!table_.weight().empty()) send_column(table_.weight());
  }
  const std::uint32_t end = 0;
  socket.write(std::as_bytes(std::span(&end, 1)));
  socket.finish();  // or what is on its way could be lost
}

}  // namespace podere::io
