#include "podere/io/text_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace podere::io {
namespace {

std::uint64_t line_number(const ByteSource& source, std::uint64_t offset) {
  const auto cursor = source.cursor_at(0);
  std::vector<char> buffer(1 << 16);
  std::uint64_t number = 1;
  while (offset > 0) {
    const std::size_t n =
        cursor->read({buffer.data(), static_cast<std::size_t>(std::min<std::uint64_t>(offset, buffer.size()))});
    if (n == 0) break;
    number += static_cast<std::uint64_t>(std::count(buffer.data(), buffer.data() + n, '\n'));
    offset -= n;
  }
  return number;
}

}  // namespace

std::optional<std::string> find_fault(const comm::Communicator& comm, const std::function<void()>& read) {
  std::string fault;
  comm.agree([&] {
    try {
      read();
    } catch (const TextFileFault& found) {
      fault = found.what();
    }
  });
  const std::vector<std::int32_t> has_fault = comm.all_gather(std::int32_t{fault.empty() ? 0 : 1});
  const auto first = std::ranges::find(has_fault, 1);
  if (first == has_fault.end()) return std::nullopt;
  return comm.broadcast_text(std::move(fault), static_cast<int>(first - has_fault.begin()));
}

void agree_on_fault(const comm::Communicator& comm, const std::function<void()>& read) {
  if (const auto fault = find_fault(comm, read)) throw InputError(*fault);
}

table::RowRange choose_rows(const std::string& name, std::uint64_t first, std::optional<std::uint64_t> last,
                            std::uint64_t n_rows) {
  const std::uint64_t end = last.value_or(n_rows);
  if (first < end && end <= n_rows) return {first, end};
  throw_input_error("{}: rows {} to {} are asked for, end excluded; there are rows 0 to {}", name, first, end, n_rows);
}

void TextFile::read(table::RowRange lines, const std::function<std::unique_ptr<LineReader>()>& make_reader,
                    int n_threads) const {
  const LinePlan plan{.source = *source,
                      .name = name,
                      .index = index,
                      .text_begin = text_begin,
                      .lines = lines,
                      .max_line_bytes = max_line_bytes};
  try {
    load_lines(plan, make_reader, n_threads);
  } catch (const SourceFault& fault) {
    throw TextFileFault(fmt::format("{}:{}: {}", name, line_number(*source, fault.offset), fault.message));
  }
}

void TextFile::check_unchanged() const {
  if (FileVersion(name) != version) throw_input_error("{}: changed while it was read", name);
}

}  // namespace podere::io
