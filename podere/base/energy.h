// Energy that the machine's processors have used, where it reports that (RAPL, as Linux shows it in
// /sys/class/powercap).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "podere/base/clock.h"

namespace podere {

/// Sums up the counters of all processor packages of this machine and, where they have one of their own, of their
/// memory. They count whatever runs on the machine. Not thread-safe.
class EnergyMeter {
 public:
  /// Begins at zero. `powercap` holds a folder for each counter, "intel-rapl:0" and so on.
  explicit EnergyMeter(const std::filesystem::path& powercap = "/sys/class/powercap");

  /// Joules since it was made; unset if a counter cannot be read. A counter begins anew at its largest value (at 100 W
  /// about once in 45 minutes), which goes unnoticed unless this or keep_up() is called in between.
  std::optional<double> joules();

  /// joules(), at most once a minute.
  void keep_up();

  /// Why joules() is unset, in words; empty if it is not.
  const std::string& why_unset() const { return why_unset_; }

 private:
  struct Counter {
    std::filesystem::path energy;
    double range_uj = 0;
    double last_uj = 0;
  };
  std::optional<double> read(const Counter& counter);

  std::vector<Counter> counters_;
  double sum_uj_ = 0;
  std::string why_unset_;
  Stopwatch since_read_;
};

/// Identifies this machine: processes that have it in common share its counters.
std::uint64_t machine_identity();

}  // namespace podere
