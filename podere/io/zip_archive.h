// ZIP archives whose members are read by themselves.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "podere/io/byte_source.h"

namespace podere::io {

/// What lies in an archive, by its central directory, with 64-bit sizes too. Members that are stored can be read at
/// any place; those that are deflated as a gzip file can.
/// Source: PKWARE, .ZIP File Format Specification 6.3.10, sections 4.3 to 4.5.
class ZipArchive {
 public:
  struct Member {
    std::string name;
    std::uint64_t n_bytes = 0;
    std::uint64_t n_packed_bytes = 0;
    std::uint64_t header_begin = 0;  ///< in the file
    std::uint32_t crc = 0;
    unsigned method = 0;
    bool is_encrypted = false;
  };

  /// Throws InputError for what is none or damaged.
  explicit ZipArchive(std::unique_ptr<RawBytes> bytes);

  const std::string& name() const { return bytes_->name(); }
  const std::vector<Member>& members() const { return members_; }

  /// What is in a member; lives longer than the archive. Throws InputError for what is damaged, encrypted, or packed by
  /// anything but deflate.
  std::unique_ptr<ByteSource> open(const Member& member) const;

 private:
  void read_directory(std::uint64_t begin, std::uint64_t n_bytes, std::uint64_t n_members);

  std::shared_ptr<const RawBytes> bytes_;  // shared with the sources of members
  std::vector<Member> members_;
};

/// Whether what is at a location begins as ZIP archives do. Throws as open_raw.
bool begins_as_zip(const std::string& location);

}  // namespace podere::io
