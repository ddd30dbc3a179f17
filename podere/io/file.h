// Plain files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

#include "podere/io/byte_source.h"

namespace podere::io {

/// A file that is open for reading.
class File {
 public:
  /// Throws InputError unless `path` is a plain file that can be read.
  explicit File(const std::filesystem::path& path);
  ~File();
  File(File&& other) noexcept
      : name_(std::move(other.name_)), descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}
  File& operator=(File&&) = delete;

  const std::string& name() const { return name_; }
  /// Bytes when it was opened; what is appended later is not seen.
  std::uint64_t size() const { return size_; }

  /// Fills `bytes` from `offset` on; returns how many, fewer only at the end. Thread-safe. Throws InputError if the
  /// file has become shorter, Error if it cannot be read.
  std::size_t read_at(std::uint64_t offset, std::span<char> bytes) const;

 private:
  std::string name_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// The bytes of a plain file.
class FileSource : public ByteSource {
 public:
  explicit FileSource(File file) : file_(std::move(file)) {}
  std::optional<std::uint64_t> size() const override { return file_.size(); }
  std::unique_ptr<ByteCursor> cursor_at(std::uint64_t offset) const override;

 private:
  File file_;
};

}  // namespace podere::io
