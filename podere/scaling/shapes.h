// Which numbers of executors and cores are measured.
#pragma once

#include <vector>

#include "podere/scaling/command.h"
#include "podere/scaling/study.h"

namespace podere::scaling {

struct Shapes {
  std::vector<Shape> measured;
  std::vector<Shape> left_out;  ///< too few executors for the command
};

/// All of `executors` with all of `cores`; an empty list stands for the powers of two that fit. Throws InputError for
/// what this machine, of `usable_cores`, cannot measure: executors that share a core measure each other.
Shapes shapes_to_measure(std::vector<int> executors, std::vector<int> cores, const Words& command, int usable_cores);

}  // namespace podere::scaling
