// How to wait for other ranks. For the files of this room alone.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "podere/base/clock.h"
#include "podere/comm/wake_up.h"

namespace podere::comm {

/// Waits between looks for what others do: looks again at once for as long as others usually take that run beside it,
/// but not where one of them needs this very processor; then sleeps until a wake-up. MPI's own calls spin, and so keep
/// others from the processor, or yield, which leaves a whole slice to a busy neighbor each time.
/// A long message comes in pieces, each of which both sides must look for: the longer it is the longer is looked.
class Patience {
 public:
  explicit Patience(std::size_t n_bytes = 0);
  ~Patience();
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

  void wait();

 private:
  double seconds_in_pieces() const;
  void look_for(double seconds);
  void expect_wake_ups();
  void sleep();

  const std::size_t n_bytes_;
  const double share_;       // of the usual time to look, by what looking has brought lately
  double look_seconds_ = 0;  // 0: it is time to sleep
  Stopwatch since_look_;
  WakeUp wake_up_;
  bool has_waited_ = false;
  int n_sleeps_ = 0;
  int looks_left_ = 0;  // that come before a sleep at any rate
  // Until others have worked again.
  std::uint32_t wake_ups_from_work_;
  std::size_t wake_ups_left_ = 0;  // that sleeps begin with
  double seconds_left_ = 0;        // to look for pieces
};

/// Returns when all requests, about so many bytes, are over, and makes them null. Local.
void await(std::span<MPI_Request> requests, std::size_t n_bytes = 0);

}  // namespace podere::comm
