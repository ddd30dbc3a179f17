// How a command scales: what runs of it on several numbers of executors and cores took.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "podere/base/json.h"

namespace podere::scaling {

/// So many executors, with so many cores each.
struct Shape {
  int executors = 1;
  int cores = 1;

  int total_cores() const { return executors * cores; }
  friend bool operator==(const Shape&, const Shape&) = default;
};
/// "2 × 4".
std::string to_string(const Shape& shape);

struct PhaseSeconds {
  std::string phase;
  double seconds = 0;

  static void visit_fields(auto& self, auto&& visit) {
    visit("phase", self.phase);
    visit("seconds", self.seconds);
  }
};

/// The collectives of one kind, as "communication" of training counts them.
struct Collectives {
  std::string kind;         ///< such as all_reduce
  std::uint64_t calls = 0;  ///< of each executor
  std::uint64_t bytes = 0;  ///< that the executor sent which sent most

  static void visit_fields(auto& self, auto&& visit) {
    visit("kind", self.kind);
    visit("calls", self.calls);
    visit("bytes", self.bytes);
  }
};

/// One run of the command.
struct Run {
  int executors = 1;
  int cores = 1;                         ///< of each executor
  double seconds = 0;                    ///< from the request to the result: executors stand already
  double start_seconds = 0;              ///< that they took to start
  double wait_share = 0;                 ///< of the executors' time
  std::vector<PhaseSeconds> phases;      ///< in their order
  std::vector<Collectives> collectives;  ///< of training; empty for other commands, which send little
  std::uint64_t rows = 0;
  std::uint64_t peak_memory_bytes = 0;  ///< of the executor that had most
  std::string sha256;                   ///< of the file that it wrote; empty: it wrote none

  Shape shape() const { return {executors, cores}; }
  static void visit_fields(auto& self, auto&& visit) {
    visit("executors", self.executors);
    visit("cores", self.cores);
    visit("seconds", self.seconds);
    visit("start_seconds", self.start_seconds);
    visit("wait_share", self.wait_share);
    visit("phases", self.phases);
    visit("collectives", self.collectives);
    visit("rows", self.rows);
    visit("peak_memory_bytes", self.peak_memory_bytes);
    visit("sha256", self.sha256);
  }
};

/// What connects executors, as collectives see it.
struct Network {
  double latency_us = 0;  ///< of a step of a collective
  double gigabits = 0;    ///< a second

  static void visit_fields(auto& self, auto&& visit) {
    visit("latency_us", self.latency_us);
    visit("gigabits", self.gigabits);
  }
};

/// All runs of one command.
struct Study {
  std::string command;                     ///< without executors and cores
  std::optional<std::uint64_t> weak_rows;  ///< rows for each core (weak scaling); absent: the same rows (strong)
  std::string cpu;
  int usable_cores = 1;
  std::vector<Run> runs;
  std::optional<Network> network;  ///< between the executors of these runs, once it was measured

  static void visit_fields(auto& self, auto&& visit) {
    visit("command", self.command);
    visit("weak_rows", self.weak_rows);
    visit("cpu", self.cpu);
    visit("usable_cores", self.usable_cores);
    visit("runs", self.runs);
    visit("network", self.network);
  }
};

/// {"podere_scale": 1, "version": ..., "command": ..., "runs": [...], "points": [...], ...}
Json to_json(const Study& study);
/// Throws InputError, beginning with `name`, for text that is no whole study, or one of another version. What
/// conclusions.h adds is left out.
Study study_of_text(const std::string& text, const std::string& name);
/// To be shown, whatever version measured it: all that `text` has of the study, conclusions too. Nothing if the text is
/// of another kind. Throws InputError, beginning with `name`, for a damaged study.
std::optional<Json> study_to_show(const std::string& text, const std::string& name);

/// Executors and cores, and what the command takes on them.
struct Point {
  int executors = 1;
  int cores = 1;
  bool is_modeled = false;  ///< computed (model.h), not measured: it has seconds, speed-up and efficiency alone
  std::size_t n_runs = 0;
  double seconds = 0;  ///< the median of the runs
  double least_seconds = 0;
  double most_seconds = 0;
  double speed_up = 0;    ///< t(base) / t; of weak scaling times the cores, as it did so many times the work
  double efficiency = 0;  ///< t(base) n(base) / (t n) of n cores in all; of weak scaling t(base) / t
  double wait_share = 0;
  std::vector<PhaseSeconds> phases;
  std::uint64_t peak_memory_bytes = 0;

  Shape shape() const { return {executors, cores}; }
  int total_cores() const { return executors * cores; }
};

/// Those that were measured, by cores in all, then by executors. The first is the base that the others are compared
/// with.
std::vector<Point> points_of(const Study& study);
/// Speed-up and efficiency of `point` against `base`.
void compare(Point& point, const Point& base, bool is_weak);
Json to_json(const Point& point);

/// Whether all runs of strong scaling wrote the same bytes; nothing where none wrote any, or of weak scaling.
std::optional<bool> has_same_results(const Study& study);

}  // namespace podere::scaling
