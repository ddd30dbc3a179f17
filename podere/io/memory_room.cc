#include "podere/io/memory_room.h"

#include <unistd.h>

#include <array>
#include <functional>
#include <string_view>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/memory.h"

namespace podere::io {
namespace {

/// Containers of one machine have names of their own, as they have limits of their own.
std::uint64_t host_identity() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return std::hash<std::string_view>()(name.data());
}

}  // namespace

void check_room(const std::string& name, std::uint64_t n_rows_here, std::uint64_t n_columns,
                const comm::Communicator& comm) {
  // As real numbers: products may be beyond all integers.
  const double wanted_here = static_cast<double>(n_rows_here) * static_cast<double>(n_columns) * sizeof(float);
  const std::uint64_t host = host_identity();
  const std::vector<std::uint64_t> hosts = comm.all_gather(host);
  const std::vector<double> wanted = comm.all_gather(wanted_here);
  comm.agree([&] {
    const auto available = available_memory_bytes();
    double wanted_of_host = 0;
    for (std::size_t rank = 0; rank < wanted.size(); ++rank) wanted_of_host += hosts[rank] == host ? wanted[rank] : 0;
    if (!available || wanted_of_host <= static_cast<double>(*available)) return;
    throw_input_error(
        "{}: its rows with {} columns take {:.1f} GB of memory as a table, and there are {:.1f} GB left on this "
        "machine: take fewer rows (--rows) or columns (--columns), or executors on more hosts",
        name, n_columns, wanted_of_host * 1e-9, static_cast<double>(*available) * 1e-9);
  });
}

}  // namespace podere::io
