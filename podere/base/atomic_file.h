// Files that are there whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace podere {

/// A file written under a temporary name beside `path`; commit() makes it `path`. Without commit nothing is left; what
/// a process that was killed left of a file `path` is removed.
/// Pipes, devices and what a process has open (/dev/stdout, /proc/PID/fd/N) are written as they are, at once: a file
/// behind /dev/stdout is written, or appended to, as the shell that opened it chose.
class AtomicFile {
 public:
  /// Throws InputError if the directory is missing or cannot be written, if `path` is a directory, or a descriptor that
  /// this process was not given to write to.
  /// A pipe waits for its reader: throws Interrupted if interrupts are counted and one comes while it does.
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Appends. Throws Error that names the file and the cause: InputError where there is no room left. Does nothing once
  /// reader_has_left().
  void write(std::string_view bytes);
  /// Flushes to the disk, then renames. Throws as write. Call once.
  void commit();
  /// The same without a flush, which takes as long as the disk needs: the file may be damaged if the machine goes down
  /// soon after. For what has checksums and can be made anew.
  void commit_unflushed();

  /// Whether the other end of a pipe was closed before all was written.
  bool reader_has_left() const { return reader_has_left_; }
  /// Empty where `path` is written as it is.
  const std::filesystem::path& temporary_path() const { return temporary_; }

 private:
  void make_temporary();
  void close_and_rename(bool flushes);

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
  bool reader_has_left_ = false;
};

/// Writes into a file that is there, such as the temporary_path() of an AtomicFile that another process holds.
/// Throws as AtomicFile::write, with the name that the file will have.
void write_into(const std::filesystem::path& path, std::size_t offset, std::string_view bytes);

}  // namespace podere
