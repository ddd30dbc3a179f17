#include "podere/io/memory_room.h"

#include <vector>

#include "podere/base/error.h"
#include "podere/base/memory.h"
#include "podere/comm/ranks_here.h"

namespace podere::io {

void check_room(const std::string& name, std::uint64_t n_rows_here, std::uint64_t n_columns,
                const comm::Communicator& comm) {
  // As real numbers: products may be beyond all integers.
  const double wanted_here = static_cast<double>(n_rows_here) * static_cast<double>(n_columns) * sizeof(float);
  const std::vector<int> here = comm::ranks_here(comm);
  const std::vector<double> wanted = comm.all_gather(wanted_here);
  comm.agree([&] {
    const auto available = available_memory_bytes();
    double wanted_of_host = 0;
    for (const int rank : here) wanted_of_host += wanted[static_cast<std::size_t>(rank)];
    if (!available || wanted_of_host <= static_cast<double>(*available)) return;
    throw_input_error(
        "{}: its rows with {} columns take {:.1f} GB of memory as a table, and there are {:.1f} GB left on this "
        "machine: take fewer rows (--rows) or columns (--columns), or executors on more hosts",
        name, n_columns, wanted_of_host * 1e-9, static_cast<double>(*available) * 1e-9);
  });
}

}  // namespace podere::io
