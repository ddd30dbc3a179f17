#include "podere/io/memory_room.h"

#include <fmt/format.h>

#include <vector>

#include "podere/base/error.h"
#include "podere/base/memory.h"
#include "podere/comm/ranks_here.h"

namespace podere::io {

void check_memory(const MemoryNeed& need, const comm::Communicator& comm) {
  const std::vector<int> here = comm::ranks_here(comm);
  const std::vector<double> needed = comm.all_gather(need.bytes_here);
  comm.agree([&] {
    const auto available = available_memory_bytes();
    double needed_of_host = 0;
    for (const int rank : here) needed_of_host += needed[static_cast<std::size_t>(rank)];
    if (!available || needed_of_host <= static_cast<double>(*available)) return;
    throw_input_error("{} take {:.1f} GB of memory, and there are {:.1f} GB left on this machine: {}", need.what,
                      needed_of_host * 1e-9, static_cast<double>(*available) * 1e-9, need.remedy);
  });
}

void check_room(const std::string& name, std::uint64_t n_rows_here, std::uint64_t n_columns,
                const comm::Communicator& comm) {
  // As real numbers: products may be beyond all integers.
  const double bytes = static_cast<double>(n_rows_here) * static_cast<double>(n_columns) * sizeof(float);
  check_memory({fmt::format("{}: its rows with {} columns", name, n_columns), bytes,
                "take fewer rows (--rows) or columns (--columns), or executors on more hosts"},
               comm);
}

}  // namespace podere::io
