// The executors' side of the control protocol: events out, orders in. See docs/control-protocol.md.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "podere/jobs/job.h"

namespace podere::jobs {

/// Version of the protocol, part of the "ready" event.
inline constexpr int kProtocolVersion = 2;

/// The heartbeat of each rank on standard error: this, its number, its process, its host, the bytes of memory that it
/// holds, and the phase of its job (nothing between jobs), with spaces between. Not on standard output, where it could
/// fall into the middle of another rank's event.
inline constexpr std::string_view kAlive = "podere-alive ";

/// The name of this machine.
std::string host_name();

/// Whose fault a failure is: "input" is the user's.
enum class FailureKind { kNone = 0, kInput = 1, kInternal = 2 };

/// Writes events as JSON lines. Thread-safe.
class EventWriter {
 public:
  explicit EventWriter(int descriptor) : descriptor_(descriptor) {}

  /// One line.
  void write(const Json& event);
  /// A line of at most PIPE_BUF bytes in one write(), so that it comes through whole beside other ranks' output.
  void write_failure(const Json& id, FailureKind kind, int rank, std::string_view message);

 private:
  void write_bytes(std::string_view bytes);

  std::mutex mutex_;
  const int descriptor_;
};

/// Moves standard output to a new descriptor, which is returned; what libraries print goes to standard error.
int take_over_stdout();

/// An order of the driver. Malformed ones are answered by the OrderReader itself.
struct Order {
  Json id;
  Json job;
};

/// Reads orders line by line on a thread of its own. If the driver goes without having sent {"end":true}, this
/// process ends at once, and with it the group.
class OrderReader {
 public:
  OrderReader(int descriptor, EventWriter& events);
  ~OrderReader();

  /// Waits for the next job. Nothing after {"end":true}.
  std::optional<Order> next();
  /// True once the job that runs now (the last that next() gave) was cancelled.
  bool is_cancelled() const { return is_cancelled_; }
  /// True once it was asked to pause: to write a checkpoint and end.
  bool is_paused() const { return is_paused_; }
  /// True, once for each such order, where what there is should be kept now.
  bool take_checkpoint_order() { return wants_checkpoint_.exchange(false); }

 private:
  void read_lines(int descriptor);
  /// False after the end.
  bool take(const std::string& line);

  EventWriter& events_;
  std::mutex mutex_;  // guards the next four
  std::condition_variable changed_;
  std::deque<Order> orders_;
  Json running_;
  bool has_ended_ = false;
  std::atomic<bool> is_cancelled_ = false;
  std::atomic<bool> is_paused_ = false;
  std::atomic<bool> wants_checkpoint_ = false;
  std::thread thread_;
};

}  // namespace podere::jobs
