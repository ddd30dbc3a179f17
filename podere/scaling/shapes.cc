#include "podere/scaling/shapes.h"

#include <algorithm>
#include <cstdint>

#include "podere/base/error.h"

namespace podere::scaling {
namespace {

std::vector<int> powers_of_two(int most) {
  std::vector<int> powers;
  for (int power = 1; power <= most; power *= 2) powers.push_back(power);
  return powers;
}

}  // namespace

Shapes shapes_to_measure(std::vector<int> executors, std::vector<int> cores, const Words& command, int usable_cores) {
  const bool is_here = !runs_elsewhere(command);
  const bool is_asked_for = !executors.empty() && !cores.empty();
  if (!is_here && !is_asked_for) {
    throw_input_error("--executors and --cores: say which, as executors are not to run on this machine");
  }
  if (executors.empty()) executors = powers_of_two(usable_cores);
  if (cores.empty()) cores = powers_of_two(usable_cores);
  const int least = needed_executors(command);
  Shapes shapes;
  for (const int n : executors) {
    for (const int c : cores) {
      const bool fits = n * static_cast<std::int64_t>(c) <= usable_cores || !is_here;
      if (!fits && is_asked_for) {
        throw_input_error(
            "{} × {} cores are more than the {} usable ones of this machine, and would share them: leave out "
            "--cores for all that fit, or let executors run on --hosts",
            n, c, usable_cores);
      }
      if (!fits) continue;
      auto& list = n < least ? shapes.left_out : shapes.measured;
      if (std::ranges::find(list, Shape{n, c}) == list.end()) list.push_back({n, c});
    }
  }
  if (!shapes.measured.empty()) return shapes;
  if (!shapes.left_out.empty()) {
    throw_input_error("the command needs {} executors at least, which {}", least,
                      is_asked_for ? "is more than --executors has" : "this machine has no cores for");
  }
  throw_input_error("no number of executors and cores fits the {} usable cores of this machine", usable_cores);
}

}  // namespace podere::scaling
