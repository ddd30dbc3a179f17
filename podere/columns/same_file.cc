#include "podere/columns/same_file.h"

#include <fmt/format.h>

#include <string>

#include "podere/base/error.h"

namespace podere::columns {

void check_same(const ColumnFile& file, const comm::Communicator& comm) {
  std::string all;
  for (const Column& column : file.columns()) {
    all += fmt::format("{}:{}:{};", column.name, column.type, static_cast<int>(column.kind));
  }
  for (const std::uint64_t begin : file.group_begins()) all += fmt::format("{},", begin);
  const std::string of_root = comm.broadcast_text(all);
  comm.agree([&] {
    if (of_root != all) throw_input_error("{}: is not the same file on all executors", file.name());
  });
}

}  // namespace podere::columns
