#include "podere/columns/write_hdf5.h"

#include <bit>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "podere/base/atomic_file.h"
#include "podere/base/error.h"
#include "podere/base/json.h"
#include "podere/base/subprocess.h"

namespace podere::columns {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr int kPollMs = 200;

Json names_and_shapes(const WrittenArrays& written) {
  Json result = Json::array();
  for (const NamedValues& array : written.arrays) result.push_back({array.name, array.shape});
  if (written.rows != nullptr) {
    result.push_back({written.rows_name, {written.rows->n_global_rows(), written.rows->n_columns()}});
  }
  return result;
}

/// Makes the file. Returns where the values of each array begin.
std::vector<std::uint64_t> make_file(const std::filesystem::path& path, const WrittenArrays& written) {
  Subprocess program({.argv = {program_beside("podere-hdf5"), "--make-arrays", path.string()}});
  program.send_line(names_and_shapes(written).dump());
  program.close_input();
  std::string answer, words;
  while (!program.streams_ended()) {
    const auto line = program.next_line(kPollMs);
    if (line) (line->stream == Subprocess::Stream::kOutput ? answer : words) += line->text;
  }
  const std::optional<int> code = program.wait(kPollMs);
  if (!code || *code != 0) {
    throw_input_error("{}: {}", path.string(), words.empty() ? "podere-hdf5 ended before it was made" : words);
  }
  return Json::parse(answer).get<std::vector<std::uint64_t>>();
}

}  // namespace

void write_hdf5(const std::filesystem::path& path, const WrittenArrays& written, const comm::Communicator& comm) {
  std::vector<std::uint64_t> begins(written.arrays.size() + (written.rows != nullptr ? 1 : 0));
  comm.agree([&] {
    if (!comm.is_root()) return;
    begins = make_file(path, written);
    for (std::size_t i = 0; i < written.arrays.size(); ++i) {
      write_into(path, begins[i], value_bytes(written.arrays[i].values));
    }
  });
  comm.broadcast(std::span(begins), 0);
  comm.agree([&] {
    if (written.rows == nullptr) return;
    const linalg::TallRows& rows = *written.rows;
    write_into(path, begins.back() + rows.rows().begin * rows.n_columns() * sizeof(double), value_bytes(rows.values()));
  });
}

}  // namespace podere::columns
