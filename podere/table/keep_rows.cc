#include "podere/table/keep_rows.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/parallel.h"

namespace podere::table {
namespace {

constexpr std::size_t kSentValues = 1 << 21;  // 8 MiB, and as many received: far beyond what a message costs to start

RowRange overlap(RowRange a, RowRange b) {
  const std::uint64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

/// How kept rows go from the ranks that hold them to those that will. Row numbers are those of the result.
struct Moves {
  Moves(std::uint64_t n_kept, int n_holders, const comm::Communicator& comm)
      : rank(static_cast<std::size_t>(comm.rank())) {
    for (const std::uint64_t n : comm.all_gather(n_kept)) {
      from.push_back({n_rows, n_rows + n});
      n_rows += n;
      most_rows = std::max(most_rows, n);
    }
    for (int r = 0; r < comm.size(); ++r) {
      to.push_back(r < n_holders ? rows_of(n_rows, r, n_holders) : RowRange{n_rows, n_rows});
      most_rows = std::max(most_rows, to.back().size());
    }
  }

  /// Rows that this rank sends to rank r, and receives from it.
  RowRange sent_to(std::size_t r) const { return overlap(from[rank], to[r]); }
  RowRange received_from(std::size_t r) const { return overlap(from[r], to[rank]); }

  std::size_t rank;
  std::vector<RowRange> from;  // by rank: the kept ones of the rows it holds
  std::vector<RowRange> to;    // by rank: what it will hold
  std::uint64_t n_rows = 0;
  std::uint64_t most_rows = 0;  // that any rank holds before or after
};

/// How many rows are kept before each slice of kGrainRows, and of all [n_slices + 1].
std::vector<std::size_t> count_before(std::span<const std::uint8_t> kept, int n_threads) {
  std::vector<std::size_t> before((kept.size() + kGrainRows - 1) / kGrainRows + 1);
  parallel_for_slices(n_threads, kept.size(), kGrainRows, [&](std::size_t begin, std::size_t end, int) {
    before[begin / kGrainRows + 1] = static_cast<std::size_t>(
        std::ranges::count_if(kept.subspan(begin, end - begin), [](std::uint8_t keep) { return keep != 0; }));
  });
  for (std::size_t i = 1; i < before.size(); ++i) before[i] += before[i - 1];
  return before;
}

/// Columns [first, last) of the kept rows, for one all_to_all_v: rank after rank, for each the columns one by one.
class Packer {
 public:
  Packer(const Table& table, std::span<const std::uint8_t> kept, std::vector<std::size_t> before, const Moves& moves,
         int n_threads)
      : table_(table), kept_(kept), before_(std::move(before)), moves_(moves), n_threads_(n_threads) {}

  std::vector<float> pack(std::size_t first, std::size_t last) const {
    const std::size_t n_slices = before_.size() - 1;
    std::vector<float> sent(before_.back() * (last - first));
    parallel_for(n_threads_, n_slices * (last - first), [&](std::size_t task, int) {
      const std::size_t j = task / n_slices;
      pack_slice(table_.column(first + j), task % n_slices, [&](std::size_t rank) {
        // Where the column's values for this rank begin, as seen from the first value for any rank.
        const RowRange rows = moves_.sent_to(rank);
        return sent.data() + (rows.begin - own_begin()) * (last - first) + j * rows.size();
      });
    });
    return sent;
  }

 private:
  std::uint64_t own_begin() const { return moves_.from[moves_.rank].begin; }

  template <typename PlaceOf>
  void pack_slice(std::span<const float> column, std::size_t slice, const PlaceOf& place_of) const {
    std::uint64_t row = own_begin() + before_[slice];  // of the result
    std::size_t rank = 0;
    float* place = nullptr;
    std::uint64_t end = 0;  // of the rank's rows
    const std::size_t end_row = std::min(kept_.size(), (slice + 1) * kGrainRows);
    for (std::size_t i = slice * kGrainRows; i < end_row; ++i) {
      if (kept_[i] == 0) continue;
      if (place == nullptr || row >= end) {
        while (row >= moves_.to[rank].end) ++rank;
        place = place_of(rank) + (row - moves_.sent_to(rank).begin);
        end = moves_.to[rank].end;
      }
      *place++ = column[i];
      ++row;
    }
  }

  const Table& table_;
  std::span<const std::uint8_t> kept_;
  std::vector<std::size_t> before_;
  const Moves& moves_;
  int n_threads_;
};

}  // namespace

Table keep_rows(const Table& table, std::span<const std::uint8_t> kept, const comm::Communicator& comm, int n_threads,
                int n_holders) {
  comm.agree([&] {
    if (kept.size() != table.n_rows()) {
      throw_input_error("rows to keep are marked for {} rows, the table has {}", kept.size(), table.n_rows());
    }
  });
  std::vector<std::size_t> before = count_before(kept, n_threads);
  const Moves moves(before.back(), n_holders == 0 ? comm.size() : n_holders, comm);
  const Packer packer(table, kept, std::move(before), moves, n_threads);
  std::optional<Table> result;
  comm.agree([&] { result.emplace(table.schema(), moves.n_rows, moves.to[moves.rank]); });

  const std::size_t n_columns = table.n_columns();
  const std::size_t n_at_once = std::max<std::size_t>(1, kSentValues / std::max<std::uint64_t>(1, moves.most_rows));
  for (std::size_t first = 0; first < n_columns; first += n_at_once) {
    const std::size_t last = std::min(n_columns, first + n_at_once);
    std::vector<std::size_t> counts;
    for (std::size_t r = 0; r < moves.to.size(); ++r) counts.push_back(moves.sent_to(r).size() * (last - first));
    const std::vector<float> received = comm.all_to_all_v<float>(packer.pack(first, last), counts);
    parallel_for(n_threads, last - first, [&](std::size_t j, int) {
      const float* block = received.data();  // what one rank sent
      for (std::size_t r = 0; r < moves.from.size(); ++r) {
        const RowRange rows = moves.received_from(r);
        if (rows.size() == 0) continue;
        std::copy_n(block + j * rows.size(), rows.size(),
                    result->column(first + j).begin() + static_cast<std::ptrdiff_t>(rows.begin - result->rows().begin));
        block += rows.size() * (last - first);
      }
    });
  }
  return std::move(*result);
}

}  // namespace podere::table
