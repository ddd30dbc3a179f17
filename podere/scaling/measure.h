// Measuring: runs of the command on numbers of executors and cores.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "podere/base/progress.h"
#include "podere/scaling/program.h"
#include "podere/scaling/study.h"

namespace podere::scaling {

struct Plan {
  Words command;
  std::vector<Shape> shapes;
  std::size_t n_repeats = 1;
  std::optional<std::uint64_t> weak_rows = {};  ///< as Study has it
  std::filesystem::path output;  ///< that executors see: where the command writes its file, which is removed again
};

/// Adds the runs that `study` lacks: every shape once, then every shape again, so that what else the machine does
/// meanwhile reaches all of them. `keep` is called after each run. Throws InputError or Error with the command's own
/// message, Error where executors were lost, InputError where the command has other rows than before, Interrupted.
void measure_missing(const Plan& plan, Study& study, const RunProgram& program, Progress& progress,
                     const std::function<void()>& keep);

/// What connects `n_executors`, two or more, where the command has them started. Takes some seconds. Throws as above.
Network measure_network(const Words& command, int n_executors, const RunProgram& program);

}  // namespace podere::scaling
