// podere executor: what the launcher starts, one process each.
#include "podere/session/executor.h"

#include "podere/cli/arguments.h"

namespace podere::cli {
namespace {

constexpr int kMostHeartbeatSeconds = 3600;

struct ExecutorOptions {
  int cores = 1;
  int heartbeat = 0;
};

}  // namespace

void add_executor(CLI::App& app, Command& chosen) {
  add_command<ExecutorOptions>(
      app, chosen, "executor", "Do jobs that come as JSON lines on standard input (docs/control-protocol.md)",
      [](CLI::App& command, ExecutorOptions& options) {
        command.add_option("--cores", options.cores)->check(whole_number(1, kMostCores));
        command.add_option("--heartbeat", options.heartbeat)->check(whole_number(0, kMostHeartbeatSeconds));
      },
      [](const ExecutorOptions& options) { return session::run_executor(options.cores, options.heartbeat); })
      ->group("");
}

}  // namespace podere::cli
