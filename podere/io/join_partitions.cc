#include "podere/io/join_partitions.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/parallel.h"

namespace podere::io {
namespace {

constexpr std::size_t kMovedValues = 1 << 21;  // 8 MiB, and as many received
constexpr std::size_t kMostNamed = 20;

table::RowRange shared_rows(table::RowRange a, table::RowRange b) {
  const std::uint64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

/// Where rows are before, and where they belong. Row numbers are those of the table.
struct Journey {
  Journey(std::span<const std::uint64_t> n_rows, const comm::Communicator& comm)
      : rank(static_cast<std::size_t>(comm.rank())), n_ranks(static_cast<std::size_t>(comm.size())) {
    for (const std::uint64_t n : n_rows) {
      partitions.push_back({n_all, n_all + n});
      n_all += n;
    }
    for (int r = 0; r < comm.size(); ++r) to.push_back(table::rows_of(n_all, r, comm.size()));
  }

  /// Calls body(rows, partition) for the rows that rank `from` has for rank `r`, in their order.
  template <typename Body>
  void for_each_run(std::size_t from, std::size_t r, const Body& body) const {
    for (std::size_t p = from; p < partitions.size(); p += n_ranks) {
      const table::RowRange rows = shared_rows(partitions[p], to[r]);
      if (rows.size() > 0) body(rows, p);
    }
  }
  std::size_t count(std::size_t from, std::size_t r) const {
    std::size_t n = 0;
    for_each_run(from, r, [&](table::RowRange rows, std::size_t) { n += rows.size(); });
    return n;
  }

  std::size_t rank;
  std::size_t n_ranks;
  std::vector<table::RowRange> partitions;
  std::vector<table::RowRange> to;  // by rank
  std::uint64_t n_all = 0;
};

/// Throws InputError that names partitions which are not as they should be.
void check_whole(const Partitions& partitions, std::span<const std::uint64_t> n_rows, const comm::Communicator& comm) {
  std::vector<std::size_t> missing;
  for (auto p = static_cast<std::size_t>(comm.rank()); p < n_rows.size(); p += static_cast<std::size_t>(comm.size())) {
    const auto found = partitions.find(static_cast<std::uint32_t>(p));
    const bool is_empty = found == partitions.end() || found->second.empty();
    if ((is_empty ? 0 : found->second.back().rows().end) != n_rows[p]) missing.push_back(p);
  }
  if (missing.empty()) return;
  const std::size_t n_missing = missing.size();
  missing.resize(std::min(n_missing, kMostNamed));
  throw_input_error("{} partition{} not arrived whole: {}{}; send the table again", n_missing,
                    n_missing == 1 ? " has" : "s have", fmt::join(missing, ", "),
                    n_missing > kMostNamed ? ", ..." : "");
}

/// Copies rows of a column of a partition.
void copy_rows(const Partition& partition, std::size_t column, table::RowRange rows, float* to) {
  for (const table::Table& piece : partition) {
    const table::RowRange found = shared_rows(piece.rows(), rows);
    if (found.size() == 0) continue;
    std::copy_n(piece.column(column).begin() + static_cast<std::ptrdiff_t>(found.begin - piece.rows().begin),
                found.size(), to + (found.begin - rows.begin));
  }
}

/// Moves columns [first, last) of all rows to where they belong.
class Mover {
 public:
  Mover(const Journey& journey, const Partitions& partitions, table::Table& result, int n_threads)
      : journey_(journey), partitions_(partitions), result_(result), n_threads_(n_threads) {
    for (std::size_t r = 0; r < journey.n_ranks; ++r) {
      n_sent_.push_back(r == journey.rank ? 0 : journey.count(journey.rank, r));
      n_received_.push_back(r == journey.rank ? 0 : journey.count(r, journey.rank));
    }
  }

  void move(std::size_t first, std::size_t last, const comm::Communicator& comm) {
    const std::size_t n_columns = last - first;
    parallel_for(n_threads_, n_columns, [&](std::size_t j, int) { copy_own(first + j); });
    std::vector<std::size_t> counts;
    for (const std::size_t n : n_sent_) counts.push_back(n * n_columns);
    const std::vector<float> received = comm.all_to_all_v<float>(pack(first, n_columns), counts);
    parallel_for(n_threads_, n_columns, [&](std::size_t j, int) { unpack(received, first, j, n_columns); });
  }

 private:
  float* place(std::size_t column, std::uint64_t row) {
    return result_.column(column).data() + (row - result_.rows().begin);
  }
  void copy_from(std::size_t column, std::size_t p, table::RowRange rows, float* to) const {
    const std::uint64_t begin = journey_.partitions[p].begin;
    copy_rows(partitions_.at(static_cast<std::uint32_t>(p)), column, {rows.begin - begin, rows.end - begin}, to);
  }
  void copy_own(std::size_t column) {
    journey_.for_each_run(journey_.rank, journey_.rank, [&](table::RowRange rows, std::size_t p) {
      copy_from(column, p, rows, place(column, rows.begin));
    });
  }
  /// Rank after rank, for each the columns one by one.
  std::vector<float> pack(std::size_t first, std::size_t n_columns) const {
    std::vector<std::size_t> begins = {0};
    for (const std::size_t n : n_sent_) begins.push_back(begins.back() + n * n_columns);
    std::vector<float> sent(begins.back());
    parallel_for(n_threads_, journey_.n_ranks * n_columns, [&](std::size_t task, int) {
      const std::size_t r = task / n_columns, j = task % n_columns;
      if (r == journey_.rank) return;
      float* to = sent.data() + begins[r] + j * n_sent_[r];
      journey_.for_each_run(journey_.rank, r, [&](table::RowRange rows, std::size_t p) {
        copy_from(first + j, p, rows, to);
        to += rows.size();
      });
    });
    return sent;
  }
  void unpack(const std::vector<float>& received, std::size_t first, std::size_t j, std::size_t n_columns) {
    const float* block = received.data();  // what one rank sent
    for (std::size_t r = 0; r < journey_.n_ranks; ++r) {
      if (r == journey_.rank) continue;
      const float* from = block + j * n_received_[r];
      journey_.for_each_run(r, journey_.rank, [&](table::RowRange rows, std::size_t) {
        std::copy_n(from, rows.size(), place(first + j, rows.begin));
        from += rows.size();
      });
      block += n_received_[r] * n_columns;
    }
  }

  const Journey& journey_;
  const Partitions& partitions_;
  table::Table& result_;
  const int n_threads_;
  std::vector<std::size_t> n_sent_;      // rows, by rank, but for this one
  std::vector<std::size_t> n_received_;  // the same
};

}  // namespace

table::Table join_partitions(const table::Schema& schema, Partitions partitions, std::span<const std::uint64_t> n_rows,
                             const comm::Communicator& comm, int n_threads) {
  const Journey journey(n_rows, comm);
  std::optional<table::Table> result;
  comm.agree([&] {
    check_whole(partitions, n_rows, comm);
    result.emplace(schema, journey.n_all, journey.to[journey.rank]);
  });
  Mover mover(journey, partitions, *result, n_threads);
  const int least_threads = comm.all_reduce(n_threads, comm::Reduction::kMin);  // executors may have other numbers
  const std::uint64_t most_rows = std::max<std::uint64_t>(1, table::rows_of(journey.n_all, 0, comm.size()).size());
  const std::size_t n_at_once =
      std::max<std::size_t>(static_cast<std::size_t>(least_threads), kMovedValues / most_rows);
  for (std::size_t first = 0; first < result->n_columns(); first += n_at_once) {
    const std::size_t last = std::min(result->n_columns(), first + n_at_once);
    mover.move(first, last, comm);
    for (auto& [number, partition] : partitions) {
      for (table::Table& piece : partition) piece.release_features(std::min(last, piece.n_features()));
    }
  }
  return std::move(*result);
}

}  // namespace podere::io
