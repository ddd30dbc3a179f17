// Wakes ranks on this machine that sleep while they wait. For the files of this room alone.
#pragma once

#include <chrono>
#include <cstdint>

namespace podere::comm {

/// Lets the ranks of MPI_COMM_WORLD that share a machine wake each other, until close_wake_ups(). Collective, once,
/// after MPI_Init. Where a rank cannot be reached it sleeps as long as it means to.
void open_wake_ups();
void close_wake_ups();

/// Whether all ranks can wake each other.
bool can_all_be_woken();

/// Wakes the ranks that are in WakeUp::sleep(). Call it after each call of MPI that may have sent something. Costs a
/// load for each rank of this machine, and a system call for each that sleeps.
void wake_others();
/// The same from a rank that is about to sleep: its look may have sent an answer, but it has done no work.
void wake_others_idle();
/// How often wake_others() of others has woken this rank.
std::uint32_t n_wake_ups_from_work();

/// Whether a rank that is not asleep was last seen, when it last woke others, on the processor that this one runs on.
bool is_processor_needed();

/// How one wait of this rank sleeps. Look for messages between arm() and sleep(), and none is missed: a wake-up since
/// arm() ends the sleep at once.
class WakeUp {
 public:
  WakeUp() = default;
  ~WakeUp();
  WakeUp(const WakeUp&) = delete;
  WakeUp& operator=(const WakeUp&) = delete;

  bool is_armed() const { return is_armed_; }
  void arm();
  /// Returns whether a rank woke this one, or false after `longest`. Disarms.
  bool sleep(std::chrono::microseconds longest);

 private:
  bool is_armed_ = false;
  std::uint32_t count_before_ = 0;
};

}  // namespace podere::comm
