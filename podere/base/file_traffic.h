// What this process has read from files and written to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>

#include "podere/base/clock.h"

namespace podere {

/// Since the process began, over all of its threads. Seconds are summed over threads, so they may grow faster than
/// time does.
struct FileTraffic {
  std::uint64_t bytes_read = 0;     ///< from files, whether the storage or the page cache had them
  std::uint64_t bytes_written = 0;  ///< to files, whether they have reached the storage or not
  double read_seconds = 0;          ///< in the calls that read: waiting for the storage, and copying
  double write_seconds = 0;         ///< in the calls that write, fsync among them
  double decode_seconds = 0;        ///< of CPU, in DecodeTime but not in calls that read
};

/// Thread-safe.
FileTraffic file_traffic();

/// Counts a call that reads or writes a file. Call add() with the number of bytes.
class CountedFileCall {
 public:
  enum class Kind { kRead, kWrite };
  explicit CountedFileCall(Kind kind);
  ~CountedFileCall();
  CountedFileCall(const CountedFileCall&) = delete;
  CountedFileCall& operator=(const CountedFileCall&) = delete;

  void add(std::size_t n_bytes) { n_bytes_ += n_bytes; }

 private:
  const Kind kind_;
  std::size_t n_bytes_ = 0;
  double cpu_before_;
  Stopwatch watch_;
};

/// Counts what this thread computes while it lives as decoding: inflating, finding lines, parsing.
class DecodeTime {
 public:
  DecodeTime();
  ~DecodeTime();
  DecodeTime(const DecodeTime&) = delete;
  DecodeTime& operator=(const DecodeTime&) = delete;

 private:
  double cpu_before_;
  double read_cpu_before_;
};

}  // namespace podere
