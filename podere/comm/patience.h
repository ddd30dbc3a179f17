// How to wait for other ranks. For the files of this room alone.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>

#include "podere/base/clock.h"

namespace podere::comm {

/// Waits between looks for what others do: looks again at once for as long as others usually take that run beside it,
/// then sleeps, so that a processor goes to whoever has work. MPI's own calls spin instead, or yield, which gives a
/// whole slice to a busy neighbor each time; who sleeps is woken when it is time. A long message comes in pieces, each
/// of which both sides must look for: so the longer it is the longer it is looked for, and no sleep is long.
class Patience {
 public:
  explicit Patience(std::size_t n_bytes = 0);
  void wait();

 private:
  double look_seconds_;
  Stopwatch watch_;
  int n_sleeps_ = 0;
};

/// Returns when all requests, about so many bytes, are over, and makes them null. Local.
void await(std::span<MPI_Request> requests, std::size_t n_bytes = 0);

}  // namespace podere::comm
