// Waiting longer after each failure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>

#include "podere/base/hash.h"

namespace podere::kube {

/// Random numbers that no two processes share, so that what failed together does not come back together.
inline RandomSequence unshared_random() {
  std::random_device device;
  return {device(), device(), device()};
}

/// The first delay, twice that, and so on up to the longest; each stretched at random by up to twice. Not thread-safe.
class BackOff {
 public:
  BackOff(double first_seconds, double longest_seconds)
      : first_seconds_(first_seconds), longest_seconds_(longest_seconds) {}

  double next_seconds() {
    const double seconds =
        std::min(first_seconds_ * static_cast<double>(1ULL << std::min(n_failures_++, 60U)), longest_seconds_);
    return seconds * (1 + random_.uniform());
  }
  void reset() { n_failures_ = 0; }

 private:
  double first_seconds_;
  double longest_seconds_;
  unsigned n_failures_ = 0;
  RandomSequence random_ = unshared_random();
};

}  // namespace podere::kube
