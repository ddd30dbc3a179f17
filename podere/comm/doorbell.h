// Wakes ranks on this machine that sleep while they wait. For the files of this room alone.
#pragma once

#include <chrono>
#include <cstdint>

namespace podere::comm {

/// Lets the ranks of MPI_COMM_WORLD that share a machine wake each other, until close_doorbells(). Collective, once,
/// after MPI_Init. Where a rank cannot be reached it sleeps as long as it means to.
void open_doorbells();
void close_doorbells();

/// Whether all ranks can wake each other.
bool hears_all_ranks();

/// Wakes the ranks that are in Doorbell::sleep(). Call it after each call of MPI that may have sent something. Costs a
/// look at each rank of this machine, and a system call for each that sleeps.
void ring_doorbells();
/// The same from a rank that is about to sleep: its look may have sent an answer, but it has done no work.
void ring_back();
/// How often ring_doorbells() of others has woken this rank.
std::uint32_t n_rings_from_work();

/// Whether a rank that is not asleep was last seen, at its last ring, on the processor that this one runs on.
bool is_processor_needed();

/// How one wait of this rank sleeps. Look for messages between arm() and sleep(), and none is missed: a ring since
/// arm() ends the sleep at once.
class Doorbell {
 public:
  Doorbell() = default;
  ~Doorbell();
  Doorbell(const Doorbell&) = delete;
  Doorbell& operator=(const Doorbell&) = delete;

  bool is_armed() const { return is_armed_; }
  void arm();
  /// Returns whether a rank rang, or false after `longest`. Disarms.
  bool sleep(std::chrono::microseconds longest);

 private:
  bool is_armed_ = false;
  std::uint32_t rings_before_ = 0;
};

}  // namespace podere::comm
