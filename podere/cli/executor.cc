// podere executor: what the launcher starts, one process each.
#include "podere/executor/executor.h"

#include <algorithm>
#include <cstdlib>

#include "podere/base/machine.h"
#include "podere/base/number.h"
#include "podere/cli/arguments.h"

namespace podere::cli {
namespace {

constexpr int kMostHeartbeatSeconds = 3600;

struct ExecutorOptions {
  int cores = 1;
  bool even_share = false;  // of the cores of the machine, instead
  int heartbeat = 0;
};

/// An even share of this machine's cores among the executors that mpirun has started on it.
int own_share() {
  const char* text = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  const auto n_here = text == nullptr ? std::nullopt : parse_count(text);
  return std::max(1, this_machine().usable_cores() / (n_here ? std::max(1, static_cast<int>(*n_here)) : 1));
}

}  // namespace

void add_executor(CLI::App& app, Command& chosen) {
  add_command<ExecutorOptions>(
      app, chosen, "executor", "Do jobs that come as JSON lines on standard input (docs/control-protocol.md)",
      [](CLI::App& command, ExecutorOptions& options) {
        command.add_option("--cores", options.cores)->transform(whole_number(1, kMostCores));
        command.add_flag("--even-share", options.even_share);
        command.add_option("--heartbeat", options.heartbeat)->transform(whole_number(0, kMostHeartbeatSeconds));
      },
      [](const ExecutorOptions& options) {
        return executor::run_executor(options.even_share ? own_share() : options.cores, options.heartbeat);
      })
      ->group("");
}

}  // namespace podere::cli
