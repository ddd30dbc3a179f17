#include "podere/table/gather_rows.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace podere::table {

Table gather_rows(const Table& table, const comm::Communicator& comm) {
  const std::vector<std::size_t> counts = comm.all_gather(table.n_rows());
  Table whole(table.schema(), table.n_global_rows(), {0, table.n_global_rows()});
  for (std::size_t j = 0; j < table.n_columns(); ++j) {
    std::ranges::copy(comm.all_gather_v(table.column(j), counts), whole.column(j).begin());
  }
  return whole;
}

}  // namespace podere::table
