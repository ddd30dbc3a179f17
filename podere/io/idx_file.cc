#include "podere/io/idx_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/file_traffic.h"
#include "podere/base/parallel.h"
#include "podere/io/memory_room.h"

namespace podere::io {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 19;  // stays in the cache between reading and converting

constexpr std::array<std::pair<unsigned char, table::Element>, 6> kTypes = {{{0x08, table::Element::kUint8},
                                                                             {0x09, table::Element::kInt8},
                                                                             {0x0b, table::Element::kInt16},
                                                                             {0x0c, table::Element::kInt32},
                                                                             {0x0d, table::Element::kFloat32},
                                                                             {0x0e, table::Element::kFloat64}}};

/// From big-endian numbers of `size` bytes to those of this machine, in place.
template <std::size_t kSize>
void reverse_each(std::span<std::byte> bytes) {
  for (std::size_t i = 0; i + kSize <= bytes.size(); i += kSize) {
    std::reverse(bytes.data() + i, bytes.data() + i + kSize);
  }
}

void to_own_order(std::span<std::byte> bytes, std::size_t size) {
  static_assert(std::endian::native == std::endian::little);
  if (size == 2) reverse_each<2>(bytes);
  if (size == 4) reverse_each<4>(bytes);
  if (size == 8) reverse_each<8>(bytes);
}

std::uint32_t big_endian(const char* p) {
  std::array<std::byte, 4> bytes;
  std::memcpy(bytes.data(), p, bytes.size());
  to_own_order(bytes, bytes.size());
  return std::bit_cast<std::uint32_t>(bytes);
}

}  // namespace

IdxFile::IdxFile(const std::string& location)
    : name_(location), version_(version_of(location)), source_(open_bytes(location)) {
  read_header(*source_->cursor_at(0));
  check_size();
}

void IdxFile::read_header(ByteCursor& cursor) {
  const auto read = [&](std::span<char> to, std::size_t begin) {
    const std::size_t n = cursor.read(to);
    if (n < to.size()) throw_input_error("{}: byte {}: the file ends within its header", name_, begin + n);
  };
  std::array<char, 4> magic;
  read(magic, 0);
  if (magic[0] != 0 || magic[1] != 0) throw_input_error("{}: byte 0: IDX files begin with two bytes 0", name_);
  const auto type = static_cast<unsigned char>(magic[2]);
  const auto known = std::ranges::find_if(kTypes, [&](const auto& entry) { return entry.first == type; });
  if (known == kTypes.end()) {
    throw_input_error("{}: byte 2: the type is {:#04x}; those of IDX are 0x08, 0x09 and 0x0b to 0x0e", name_, type);
  }
  element_ = known->second;
  const auto n_dimensions = static_cast<unsigned char>(magic[3]);
  if (n_dimensions == 0) throw_input_error("{}: byte 3: there are 0 dimensions; at least 1 is needed", name_);
  std::vector<char> sizes(std::size_t{4} * n_dimensions);
  read(sizes, 4);
  for (std::size_t d = 0; d < n_dimensions; ++d) {
    sizes_.push_back(big_endian(sizes.data() + 4 * d));
    if (sizes_[d] == 0) throw_input_error("{}: byte {}: the size of dimension {} is 0", name_, 4 + 4 * d, d);
    if (d > 0) values_per_row_ *= sizes_[d];
    if (values_per_row_ <= kMostFeatures) continue;
    throw_input_error("{}: byte {}: a row has {} values or more; a table can have {} features", name_, 4 + 4 * d,
                      values_per_row_, kMostFeatures);
  }
}

std::string IdxFile::shape() const {
  return fmt::format("{} values of {} bytes", fmt::join(sizes_, " x "), table::size_of(element_));
}

void IdxFile::check_size() {
  const std::uint64_t size = count_bytes(*source_, total_bytes());
  if (size < total_bytes()) {
    throw_input_error("{}: byte {}: the file is cut: its header names {}, {} bytes in all", name_, size, shape(),
                      total_bytes());
  }
  if (size > total_bytes()) {
    throw_input_error("{}: byte {}: the file continues after the {} of its header", name_, total_bytes(), shape());
  }
}

std::uint64_t IdxFile::row_at(std::uint64_t offset) const {
  return offset <= begin_bytes() ? 0 : (offset - begin_bytes() + row_bytes() - 1) / row_bytes();
}

/// What one thread needs to read pieces.
class IdxFile::PieceReader {
 public:
  explicit PieceReader(const IdxFile& file) : file_(file) {}

  void read(table::RowRange rows, const std::function<void(const Piece&)>& take) {
    const std::uint64_t row_bytes = file_.row_bytes();
    const std::uint64_t most_rows = std::max<std::uint64_t>(1, kPieceBytes / row_bytes);
    const auto cursor = file_.source_->cursor_at(file_.begin_bytes() + rows.begin * row_bytes);
    for (std::uint64_t row = rows.begin; row < rows.end; row += most_rows) {
      const std::uint64_t n_rows = std::min(most_rows, rows.end - row);
      bytes_.resize(static_cast<std::size_t>(n_rows * row_bytes));
      if (cursor->read({reinterpret_cast<char*>(bytes_.data()), bytes_.size()}) < bytes_.size()) {
        throw_input_error("{}: changed while it was read", file_.name_);
      }
      const std::size_t value_bytes = table::size_of(file_.element_);
      to_own_order(bytes_, value_bytes);
      take({.rows = {row, row + n_rows},
            .values = {.begin = bytes_.data(),
                       .n_rows = static_cast<std::size_t>(n_rows),
                       .n_columns = static_cast<std::size_t>(file_.values_per_row_),
                       .row_stride = static_cast<std::ptrdiff_t>(row_bytes),
                       .column_stride = static_cast<std::ptrdiff_t>(value_bytes),
                       .element = file_.element_}});
    }
  }

 private:
  const IdxFile& file_;
  std::vector<std::byte> bytes_;
};

void IdxFile::read(table::RowRange rows, const std::function<void(const Piece&)>& take, int n_threads) const {
  if (rows.size() == 0) return;
  // A task is the rows that begin within so many bytes: it begins where a cursor can start.
  const std::uint64_t task_bytes = std::max<std::uint64_t>(kPieceBytes, source_->stride());
  const std::uint64_t first_task = (begin_bytes() + rows.begin * row_bytes()) / task_bytes;
  const std::uint64_t last_task = (begin_bytes() + (rows.end - 1) * row_bytes()) / task_bytes;
  std::vector<PieceReader> readers(static_cast<std::size_t>(std::max(n_threads, 1)), PieceReader(*this));
  parallel_for(n_threads, static_cast<std::size_t>(last_task - first_task + 1), [&](std::size_t i, int thread) {
    const DecodeTime decoding;
    const std::uint64_t task = first_task + i;
    const std::uint64_t begin = std::max(rows.begin, row_at(task * task_bytes));
    const std::uint64_t end = std::min(rows.end, row_at((task + 1) * task_bytes));
    if (begin < end) readers[static_cast<std::size_t>(thread)].read({begin, end}, take);
  });
}

void IdxFile::check_unchanged() const {
  if (version_of(name_) != version_) throw_input_error("{}: changed while it was read", name_);
}

}  // namespace podere::io
