#include "podere/base/file_traffic.h"

#include <atomic>
#include <cmath>

namespace podere {
namespace {

/// As the kernel's /proc/self/io, which also counts messages to other processes.
struct Totals {
  std::atomic<std::uint64_t> bytes_read = 0;
  std::atomic<std::uint64_t> bytes_written = 0;
  std::atomic<std::int64_t> read_ns = 0;
  std::atomic<std::int64_t> write_ns = 0;
  std::atomic<std::int64_t> decode_ns = 0;
};
Totals totals;
thread_local double read_cpu_seconds = 0;  // of this thread, in calls that read

std::int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }
double seconds(const std::atomic<std::int64_t>& ns) { return static_cast<double>(ns.load()) * 1e-9; }

double thread_cpu_seconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

FileTraffic file_traffic() {
  return {.bytes_read = totals.bytes_read,
          .bytes_written = totals.bytes_written,
          .read_seconds = seconds(totals.read_ns),
          .write_seconds = seconds(totals.write_ns),
          .decode_seconds = seconds(totals.decode_ns)};
}

CountedFileCall::CountedFileCall(Kind kind) : kind_(kind), cpu_before_(thread_cpu_seconds()) {}

CountedFileCall::~CountedFileCall() {
  const bool is_read = kind_ == Kind::kRead;
  (is_read ? totals.bytes_read : totals.bytes_written) += n_bytes_;
  (is_read ? totals.read_ns : totals.write_ns) += nanoseconds(watch_.seconds());
  if (is_read) read_cpu_seconds += thread_cpu_seconds() - cpu_before_;
}

DecodeTime::DecodeTime() : cpu_before_(thread_cpu_seconds()), read_cpu_before_(read_cpu_seconds) {}

DecodeTime::~DecodeTime() {
  const double cpu = thread_cpu_seconds() - cpu_before_;
  totals.decode_ns += nanoseconds(cpu - (read_cpu_seconds - read_cpu_before_));
}

}  // namespace podere
