// How an algorithm reports progress, and is asked to stop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "podere/base/json.h"

namespace podere {

/// One report of a long job. Metrics are (name, value), in the order in which they should be shown.
struct ProgressStep {
  std::string phase;  ///< such as "train"
  std::size_t done = 0;
  std::size_t total = 0;  ///< 0: not known, and `unit` says what is counted
  std::vector<std::pair<std::string, double>> metrics;
  std::string unit = {};  ///< what is counted, such as "tree"; empty where the phase says it
  /// Of a search: "score", the name of its measure (empty: not known yet), and those of its "trials" that are not as
  /// they were at the last report, as results have them (tune/kept_study.h). Empty where there are none.
  Json search = Json::object();
};

/// Called on every rank from the thread that runs the algorithm, outside parallel regions. All ranks report the same
/// phases, each at its beginning at least.
class Progress {
 public:
  virtual ~Progress() = default;
  virtual void report(const ProgressStep& /*step*/) {}
  /// Counts rows that this rank has read and written.
  virtual void count_rows(std::uint64_t /*n_read*/, std::uint64_t /*n_written*/) {}
  /// Warns the user, in one line; the job continues.
  virtual void warn(const std::string& /*message*/) {}
  /// True once the user asked to stop. May differ from rank to rank: algorithms agree on rank 0's answer.
  virtual bool stop_requested() { return false; }
  /// True once for each request to write a checkpoint now. Requests reach rank 0.
  virtual bool checkpoint_requested() { return false; }
};

}  // namespace podere
