#include "podere/columns/write_npz.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <span>
#include <string_view>

#include "podere/base/atomic_file.h"
#include "podere/columns/npy_header.h"

namespace podere::columns {
namespace {

static_assert(std::endian::native == std::endian::little);

/// Bytes of a whole number, the lowest first, as archives and headers have them.
template <typename T>
void append(std::string& text, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
}

std::uint32_t checksum(std::string_view bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

/// A member of an archive that is not packed: its header, and its entry in the directory. Sizes are of 64 bits, as
/// of version 4.5 of the format. Source: PKWARE, APPNOTE.TXT 6.3.10, sections 4.3 to 4.5.
struct Member {
  std::string name;
  std::uint64_t size;
  std::uint32_t crc;
  std::uint64_t begin = 0;  ///< of its header in the archive

  std::string header() const {
    std::string text;
    append(text, std::uint32_t{0x04034b50});
    append_common(text);
    append(text, std::uint16_t{20});  // of what follows the name
    text += name;
    append(text, std::uint16_t{1});
    append(text, std::uint16_t{16});
    append(text, size);
    append(text, size);
    return text;
  }
  std::string entry() const {
    std::string text;
    append(text, std::uint32_t{0x02014b50});
    append(text, kVersion);
    append_common(text);
    append(text, std::uint16_t{28});
    append(text, std::uint16_t{0});  // comment
    append(text, std::uint16_t{0});  // disk
    append(text, std::uint16_t{0});  // attributes
    append(text, std::uint32_t{0600U << 16});
    append(text, kElsewhere);
    text += name;
    append(text, std::uint16_t{1});
    append(text, std::uint16_t{24});
    append(text, size);
    append(text, size);
    append(text, begin);
    return text;
  }

  static constexpr std::uint16_t kVersion = 45;
  static constexpr std::uint32_t kElsewhere = 0xffffffff;  // the number is of 64 bits and follows the name

 private:
  void append_common(std::string& text) const {
    append(text, kVersion);
    append(text, std::uint16_t{0});     // flags
    append(text, std::uint16_t{0});     // not packed
    append(text, std::uint16_t{0});     // time
    append(text, std::uint16_t{0x21});  // 1980-01-01, so that the same rows make the same file
    append(text, crc);
    append(text, kElsewhere);
    append(text, kElsewhere);
    append(text, static_cast<std::uint16_t>(name.size()));
  }
};

std::string directory(const std::vector<Member>& members, std::uint64_t begin) {
  std::string text;
  for (const Member& member : members) text += member.entry();
  const std::uint64_t size = text.size();
  append(text, std::uint32_t{0x06064b50});  // the end of the directory, in 64 bits
  append(text, std::uint64_t{44});
  append(text, Member::kVersion);
  append(text, Member::kVersion);
  append(text, std::uint32_t{0});
  append(text, std::uint32_t{0});
  append(text, std::uint64_t{members.size()});
  append(text, std::uint64_t{members.size()});
  append(text, size);
  append(text, begin);
  append(text, std::uint32_t{0x07064b50});  // where that is
  append(text, std::uint32_t{0});
  append(text, begin + size);
  append(text, std::uint32_t{1});
  append(text, std::uint32_t{0x06054b50});  // the end
  append(text, std::uint16_t{0});
  append(text, std::uint16_t{0});
  append(text, static_cast<std::uint16_t>(members.size()));
  append(text, static_cast<std::uint16_t>(members.size()));
  append(text, Member::kElsewhere);
  append(text, Member::kElsewhere);
  append(text, std::uint16_t{0});
  return text;
}

/// Of `head` and then the bytes of all ranks.
std::uint32_t checksum_of_all(std::string_view head, std::string_view bytes, const comm::Communicator& comm) {
  const std::vector<std::uint64_t> parts =
      comm.all_gather(std::span<const std::uint64_t>(std::vector<std::uint64_t>{checksum(bytes), bytes.size()}));
  uLong crc = checksum(head);
  for (std::size_t i = 0; i < parts.size(); i += 2) {
    crc = crc32_combine(crc, static_cast<uLong>(parts[i]), static_cast<z_off_t>(parts[i + 1]));
  }
  return static_cast<std::uint32_t>(crc);
}

}  // namespace

void write_npz(const std::filesystem::path& path, const WrittenArrays& written, const comm::Communicator& comm) {
  const linalg::TallRows* const rows = written.rows;
  std::string head;
  std::vector<Member> members;
  const auto begin_member = [&](const std::string& name, const std::string& npy, std::uint64_t n_bytes,
                                std::uint32_t crc) {
    members.push_back({.name = name + ".npy", .size = npy.size() + n_bytes, .crc = crc, .begin = head.size()});
    head += members.back().header() + npy;
  };
  for (const NamedValues& array : written.arrays) {
    const std::string npy = npy_header(array.shape);
    const std::string_view bytes = value_bytes(array.values);
    begin_member(array.name, npy, bytes.size(), checksum(npy + std::string(bytes)));
    head += bytes;
  }
  std::uint64_t rows_bytes = 0;
  if (rows != nullptr) {
    const std::string npy = npy_header({rows->n_global_rows(), rows->n_columns()});
    rows_bytes = rows->n_global_rows() * rows->n_columns() * sizeof(double);
    begin_member(written.rows_name, npy, rows_bytes, checksum_of_all(npy, value_bytes(rows->values()), comm));
  }
  // Other ranks may lack the arrays: what comes before the rows is as long as on rank 0.
  const std::uint64_t head_bytes = comm.all_gather(std::uint64_t{head.size()})[0];
  comm.agree([&] {
    if (comm.is_root()) {
      write_into(path, 0, head);
      write_into(path, head_bytes + rows_bytes, directory(members, head_bytes + rows_bytes));
    }
    if (rows == nullptr) return;
    const std::uint64_t begin = head_bytes + rows->rows().begin * rows->n_columns() * sizeof(double);
    write_into(path, begin, value_bytes(rows->values()));
  });
}

}  // namespace podere::columns
