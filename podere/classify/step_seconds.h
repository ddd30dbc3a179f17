// How long the steps of classifying take.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "podere/base/clock.h"
#include "podere/base/json.h"
#include "podere/comm/communicator.h"

namespace podere::classify {

enum Step { kRead, kDecode, kPrepare, kNetwork, kKeep };
inline constexpr std::array kStepNames = {"read", "decode", "resize", "network", "write"};

/// Seconds of all threads in each step. Thread-safe.
class StepSeconds {
 public:
  /// Calls `body` and adds its time.
  template <typename Body>
  auto in(Step step, Body&& body) {
    struct AtEnd {
      std::atomic<std::uint64_t>& nanoseconds;
      Stopwatch watch = {};
      ~AtEnd() { nanoseconds += static_cast<std::uint64_t>(watch.seconds() * 1e9); }
    } at_end{nanoseconds_[step]};
    return body();
  }
  /// By the names of steps. Collective: an all_reduce for each.
  Json over_ranks(const comm::Communicator& comm) const {
    Json seconds = Json::object();
    for (std::size_t step = 0; step < kStepNames.size(); ++step) {
      const auto all = comm.all_reduce(nanoseconds_[step].load(), comm::Reduction::kSum);
      seconds[kStepNames[step]] = static_cast<double>(all) * 1e-9;
    }
    return seconds;
  }

 private:
  std::array<std::atomic<std::uint64_t>, kStepNames.size()> nanoseconds_{};
};

}  // namespace podere::classify
