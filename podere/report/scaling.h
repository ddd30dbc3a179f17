// How a command scales: what runs of it on several numbers of executors and cores took.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "podere/base/json.h"

namespace podere::report {

struct PhaseSeconds {
  std::string phase;
  double seconds = 0;

  static void visit_fields(auto& self, auto&& visit) {
    visit("phase", self.phase);
    visit("seconds", self.seconds);
  }
};

/// One run of the command.
struct ScaleRun {
  int executors = 1;
  int cores = 1;                     ///< of each executor
  double seconds = 0;                ///< from the request to the result: executors stand already
  double start_seconds = 0;          ///< that they took to start
  double wait_share = 0;             ///< of the executors' time
  std::vector<PhaseSeconds> phases;  ///< in their order
  std::uint64_t rows = 0;
  std::uint64_t peak_memory_bytes = 0;  ///< of the executor that had most
  std::string sha256;                   ///< of the file that it wrote; empty: it wrote none

  static void visit_fields(auto& self, auto&& visit) {
    visit("executors", self.executors);
    visit("cores", self.cores);
    visit("seconds", self.seconds);
    visit("start_seconds", self.start_seconds);
    visit("wait_share", self.wait_share);
    visit("phases", self.phases);
    visit("rows", self.rows);
    visit("peak_memory_bytes", self.peak_memory_bytes);
    visit("sha256", self.sha256);
  }
};

/// All runs of one command.
struct ScaleStudy {
  std::string command;                     ///< without executors and cores
  std::optional<std::uint64_t> weak_rows;  ///< rows for each core (weak scaling); absent: the same rows (strong)
  std::string cpu;
  int usable_cores = 1;
  std::vector<ScaleRun> runs;

  static void visit_fields(auto& self, auto&& visit) {
    visit("command", self.command);
    visit("weak_rows", self.weak_rows);
    visit("cpu", self.cpu);
    visit("usable_cores", self.usable_cores);
    visit("runs", self.runs);
  }
};

/// {"podere_scale": 1, "version": ..., "command": ..., "runs": [...], "points": [...], ...}
Json to_json(const ScaleStudy& study);
/// Throws InputError, beginning with `name`, for text that is no whole study, or one of another version.
ScaleStudy scale_study_of(const std::string& text, const std::string& name);

/// The runs on one number of executors and cores. Times are medians.
struct ScalePoint {
  int executors = 1;
  int cores = 1;
  std::size_t n_runs = 0;
  double seconds = 0;
  double least_seconds = 0;
  double most_seconds = 0;
  double speed_up = 0;    ///< t(base) / t; of weak scaling times the cores, as it did so many times the work
  double efficiency = 0;  ///< t(base) n(base) / (t n) of n cores in all; of weak scaling t(base) / t
  double wait_share = 0;
  std::vector<PhaseSeconds> phases;
  std::uint64_t peak_memory_bytes = 0;

  int total_cores() const { return executors * cores; }
};

/// By cores in all, then by executors. The first is the base that the others are compared with.
std::vector<ScalePoint> points_of(const ScaleStudy& study);

/// Whether all runs of strong scaling wrote the same bytes; nothing where none wrote any, or of weak scaling.
std::optional<bool> has_same_results(const ScaleStudy& study);

}  // namespace podere::report
