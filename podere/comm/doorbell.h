// Wakes ranks on this machine that sleep while they wait. For the files of this room alone.
#pragma once

#include <chrono>
#include <cstdint>

namespace podere::comm {

/// Lets the ranks of MPI_COMM_WORLD that share a machine wake each other, until close_doorbells(). Collective, once,
/// after MPI_Init. Where a rank cannot be reached it sleeps as long as it means to.
void open_doorbells();
void close_doorbells();

/// Whether all other ranks can wake this one.
bool hears_all_ranks();

/// Wakes those who are in Doorbell::sleep(): for after each call of MPI that may have sent something. Costs a look at
/// each rank of this machine, and a system call for each that sleeps.
void ring_doorbells();

/// Whether a rank that is not asleep was last seen, at its last ring, on the processor that this one runs on.
bool is_processor_needed();

/// How one wait of this rank sleeps. Whoever looks for messages between arm() and sleep() misses none: a ring since
/// arm() ends the sleep at once.
class Doorbell {
 public:
  Doorbell() = default;
  ~Doorbell();
  Doorbell(const Doorbell&) = delete;
  Doorbell& operator=(const Doorbell&) = delete;

  bool is_armed() const { return is_armed_; }
  void arm();
  /// Returns whether somebody rang, or false after `longest`. Disarms.
  bool sleep(std::chrono::microseconds longest);

 private:
  bool is_armed_ = false;
  std::uint32_t rings_before_ = 0;
};

}  // namespace podere::comm
