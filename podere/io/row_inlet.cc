#include "podere/io/row_inlet.h"

#include <new>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/memory.h"

namespace podere::io {
namespace {

constexpr int kHelloSeconds = 10;
constexpr int kLastWordsSeconds = 10;  // in which a sender reads why it is refused
constexpr std::uint64_t kSpareBytes = std::uint64_t{256} << 20;

std::uint64_t count_rows(const Partition& partition) { return partition.empty() ? 0 : partition.back().rows().end; }

/// A partition that is there already.
struct HaveIt {
  std::uint64_t n_rows;
};

}  // namespace

RowInlet::RowInlet(Options options, const std::string& address)
    : options_(std::move(options)), rounded_(options_.layout.schema.features.size()) {
  check_layout(options_.layout);
  server_ =
      std::make_unique<TcpServer>(address, options_.most_connections, [this](TcpSocket& socket) { serve(socket); });
}

Partitions RowInlet::take() {
  server_.reset();
  return std::move(partitions_);
}

std::optional<std::uint64_t> RowInlet::find(std::uint32_t number) {
  const std::scoped_lock lock(mutex_);
  const auto found = partitions_.find(number);
  if (found == partitions_.end()) return std::nullopt;
  return count_rows(found->second);
}

void RowInlet::serve(TcpSocket& socket) {
  const auto end_with = [&](Answer answer, const std::string& text) {
    write_answer(socket, answer, text);
    socket.limit_reading(kLastWordsSeconds);
    socket.finish();
  };
  try {
    auto [number, partition] = receive(socket);
    const std::uint64_t n_rows = count_rows(partition);
    {
      const std::scoped_lock lock(mutex_);
      const auto [kept, is_first] = partitions_.try_emplace(number, std::move(partition));
      if (!is_first) throw HaveIt{count_rows(kept->second)};  // the first that is whole counts
    }
    write_answer(socket, Answer::kOk, std::to_string(n_rows));
  } catch (const HaveIt& known) {
    end_with(Answer::kHaveIt, std::to_string(known.n_rows));
  } catch (const InputError& error) {
    end_with(Answer::kRefused, error.what());
  } catch (const std::bad_alloc&) {
    end_with(Answer::kRefused, "the executor has no memory left");
  }
}

std::pair<std::uint32_t, Partition> RowInlet::receive(TcpSocket& socket) {
  const ReadBytes read = [&](std::span<std::byte> bytes) { socket.read(bytes); };
  socket.limit_reading(kHelloSeconds);
  check_hello(read, options_.token);
  const auto number = read_number<std::uint32_t>(read);
  socket.limit_reading(0);
  if (static_cast<int>(number % static_cast<unsigned>(options_.n_ranks)) != options_.rank) {
    throw_input_error("partition {} belongs to executor {}, this is {}", number,
                      number % static_cast<unsigned>(options_.n_ranks), options_.rank);
  }
  if (const auto n_rows = find(number)) throw HaveIt{*n_rows};
  write_answer(socket, Answer::kOk);
  FrameReader frames(options_.layout, fmt::format("partition {}", number), read);
  Partition partition;
  while (auto rows = frames.next(rounded_)) {
    n_rows_ += rows->n_rows();
    partition.push_back(std::move(*rows));
    check_memory();
    if (const auto n_rows = find(number)) throw HaveIt{*n_rows};  // another attempt was faster
  }
  if (const auto n_rows = find(number)) throw HaveIt{*n_rows};
  return {number, std::move(partition)};
}

void RowInlet::check_memory() const {
  const auto available = available_memory_bytes();
  if (!available || *available >= kSpareBytes) return;
  throw_input_error(
      "table {}: {} rows have arrived, and there are {:.1f} GB of memory left on this machine: send fewer "
      "rows or columns, or have executors on more hosts",
      options_.name, n_rows_.load(), static_cast<double>(*available) * 1e-9);
}

}  // namespace podere::io
