#include "podere/jobs/receive_job.h"

#include <optional>
#include <utility>
#include <vector>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/base/json.h"
#include "podere/base/local_socket.h"
#include "podere/base/secret.h"
#include "podere/base/tcp.h"
#include "podere/io/join_partitions.h"
#include "podere/io/memory_room.h"
#include "podere/io/row_inlet.h"
#include "podere/io/shard_cache.h"
#include "podere/jobs/job_context.h"
#include "podere/table/schema_json.h"

namespace podere::jobs {
namespace {

constexpr const char* kReceivedShard = "received";
constexpr int kTickMs = 100;
constexpr std::size_t kMostPartitions = 10'000'000;

io::RowLayout layout_of(const ReceiveJob& job) {
  Json columns = job.kinds;
  columns.update({{"features", job.features}, {"label", ""}, {"weight", ""}});
  io::RowLayout layout = {.schema = table::schema_from_json(columns), .blocks = job.blocks};
  table::check_names(job.features);
  layout.schema.label = job.label;
  layout.schema.weight = job.weight;
  if (job.label) layout.schema.classes = job.classes;
  io::check_layout(layout);
  return layout;
}

/// The connection to the process that asked for the rows.
class Asker {
 public:
  /// Throws InputError if no process listens there.
  Asker(const ReceiveJob& job) : name_(job.name), socket_(TcpSocket::connect(job.host, job.port)) {
    address_ = socket_.local_address();
    lines_ = LineSocket(socket_.release());
  }

  /// Of this machine, as the other sees it.
  const std::string& address() const { return address_; }
  void write(const Json& line) { lines_.send_line(line.dump()); }

  /// How many rows each partition has, once that is known. Throws InputError if the rows are not to come any more.
  std::optional<std::vector<std::uint64_t>> poll() {
    const bool is_open = lines_.receive(kTickMs);
    if (const auto line = lines_.take_line()) return read(*line);
    if (!is_open) throw_input_error("table {}: the process that sends it has gone, and nothing is kept", name_);
    return std::nullopt;
  }

 private:
  std::vector<std::uint64_t> read(const std::string& line) const {
    const Json json = Json::parse(line, nullptr, false);
    const auto rows = json.is_object() ? json.find("rows") : json.end();
    if (!json.is_object() || (rows == json.end() && !json.contains("abandon"))) {
      throw_input_error("table {}: its sender speaks another protocol", name_);
    }
    if (rows == json.end()) {
      const Json& why = json["abandon"];
      throw_input_error("table {}: {}", name_, why.is_string() ? why.get<std::string>() : "abandoned");
    }
    std::vector<std::uint64_t> n_rows;
    read_json(*rows, "rows", n_rows);
    if (n_rows.size() > kMostPartitions) {
      throw_input_error("table {}: {} partitions, allowed are {}", name_, n_rows.size(), kMostPartitions);
    }
    return n_rows;
  }

  std::string name_;
  TcpSocket socket_;
  std::string address_;
  LineSocket lines_;
};

struct Received {
  io::Partitions partitions;
  std::vector<std::uint64_t> n_rows;
};

/// Takes partitions until the asker says that all were sent. Local.
Received take_partitions(io::RowInlet& inlet, Asker& asker, const ReceiveJob& job, const JobContext& context) {
  while (true) {
    if (auto n_rows = asker.poll()) {
      context.progress.count_rows(inlet.n_rows(), 0);
      return {inlet.take(), std::move(*n_rows)};
    }
    if (context.progress.stop_requested()) throw_input_error("table {}: cancelled while its rows came", job.name);
    context.progress.report({"receive", static_cast<std::size_t>(inlet.n_rows()), 0, {}, ""});
  }
}

/// Collective.
table::Table receive(const ReceiveJob& job, const JobContext& context, std::vector<io::Rounded>& rounded) {
  const std::string group = context.comm.broadcast_text(context.comm.is_root() ? random_token() : "");
  const io::RowLayout layout = layout_of(job);
  std::optional<io::RowInlet> inlet;
  Received received;
  context.comm.agree([&] {
    Asker asker(job);
    inlet.emplace(io::RowInlet::Options{.layout = layout,
                                        .name = job.name,
                                        .token = job.token,
                                        .rank = context.comm.rank(),
                                        .n_ranks = context.comm.size()},
                  asker.address());
    asker.write({{"token", job.token},
                 {"group", group},
                 {"executor", context.comm.rank()},
                 {"executors", context.comm.size()},
                 {"address", asker.address()},
                 {"port", inlet->port()}});
    received = take_partitions(*inlet, asker, job, context);
  });
  rounded = inlet->rounded().join(layout.schema.features, context.comm);
  return io::join_partitions(layout.schema, std::move(received.partitions), received.n_rows, context.comm,
                             context.n_threads);
}

table::Table receive_or_restore(const ReceiveJob& job, const JobContext& context, std::vector<io::Rounded>& rounded) {
  if (!job.cache.empty()) {
    if (auto cached = io::read_shards(job.cache, kReceivedShard, context.comm, context.n_threads))
      return std::move(*cached);
  }
  if (job.was_received) {
    throw_input_error("{}: its rows were sent from elsewhere, and not all of them are cached: send it again", job.name);
  }
  table::Table table = receive(job, context, rounded);
  if (table.n_global_rows() == 0) throw_input_error("table {}: no rows were sent, allowed is at least one", job.name);
  if (job.cache.empty()) return table;
  const bool is_written = io::write_shard(job.cache, kReceivedShard, table, context.n_threads);
  if (context.comm.all_reduce(is_written ? 0 : 1, comm::Reduction::kMax) != 0 && context.comm.is_root()) {
    context.progress.warn(fmt::format("no room to cache table {} in {}: if executors are lost, it must be sent again",
                                      job.name, job.cache));
  }
  return table;
}

}  // namespace

Json run(const ReceiveJob& job, const JobContext& context) {
  context.tables.check_free(job.name);
  const Stopwatch watch;
  context.progress.report({"receive", 0, 0, {}, ""});
  std::vector<io::Rounded> rounded;
  table::Table table = receive_or_restore(job, context, rounded);
  Json result = {{"tables", Json::array({facts_of(job.name, table)})}, {"load_seconds", watch.seconds()}};
  result["rounded"] = Json::array();
  for (const io::Rounded& column : rounded)
    result["rounded"].push_back({{"column", column.column}, {"step", column.step}});
  context.tables.keep(job.name, std::move(table));
  result.update(resources(context.comm, context.n_threads));
  return result;
}

}  // namespace podere::jobs
