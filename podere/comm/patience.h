// How to wait for other ranks. For the files of this room alone.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>

#include "podere/base/clock.h"

namespace podere::comm {

/// Waits between looks for what others do: looks again at once for as long as others usually take that run beside it,
/// then sleeps, so that a processor goes to a process that has work. MPI's own calls spin instead, or yield, which gives
/// a whole slice to a busy neighbor each time. A long message comes in pieces, each of which both sides must look for:
/// the longer it is, the longer the look, and no sleep is long. Where looks are in vain, as the other process waits for
/// this processor, the next waits sleep at once: one, then two, then four, up to 64, until a look succeeds.
class Patience {
 public:
  explicit Patience(std::size_t n_bytes = 0);
  ~Patience();
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;
  void wait();

 private:
  double look_seconds_;
  Stopwatch watch_;
  bool has_waited_ = false;
  int n_sleeps_ = 0;
};

/// Returns when all requests, about so many bytes, are over, and makes them null. Local.
void await(std::span<MPI_Request> requests, std::size_t n_bytes = 0);

}  // namespace podere::comm
