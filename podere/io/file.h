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
class File final : public RawBytes {
 public:
  /// Throws InputError unless `path` is a plain file that can be read.
  explicit File(const std::filesystem::path& path);
  ~File() override;
  File(File&& other) noexcept
      : name_(std::move(other.name_)), descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}
  File& operator=(File&&) = delete;

  const std::string& name() const override { return name_; }
  std::uint64_t size() const override { return size_; }
  std::size_t read_at(std::uint64_t offset, std::span<char> bytes) const override;

 private:
  std::string name_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// The size of a file and the time of its last change.
SourceVersion file_version(const std::string& path);

}  // namespace podere::io
