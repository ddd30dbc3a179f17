// The program that reads HDF5 files, started for a file.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace podere::columns {

/// Processes of podere-hdf5 for a file, one for each thread that reads at the same time. Each ends when its input does:
/// with this object, or with this process in whatever way.
class Hdf5Processes {
 public:
  /// Starts one. Throws InputError for what is no HDF5 file or has nothing at the key, Error if there is no program.
  Hdf5Processes(std::string path, std::string key);
  ~Hdf5Processes();

  /// The JSON text that says what is in the file.
  const std::string& contents() const { return contents_; }
  /// Fills `bytes` from a place in an array. Thread-safe. Throws InputError for what cannot be read.
  void read(std::uint64_t array, std::uint64_t first_byte, std::span<std::byte> bytes) const;

 private:
  class Process;
  std::unique_ptr<Process> start(std::string& contents) const;
  std::unique_ptr<Process> take() const;

  std::string path_, key_;
  std::string contents_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Process>> idle_;
};

}  // namespace podere::columns
