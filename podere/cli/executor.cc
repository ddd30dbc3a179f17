// podere executor: what the launcher starts, one process each.
#include "podere/session/executor.h"

#include "podere/cli/arguments.h"

namespace podere::cli {
namespace {

struct ExecutorOptions {
  int cores = 1;
};

}  // namespace

void add_executor(CLI::App& app, Command& chosen) {
  add_command<ExecutorOptions>(
      app, chosen, "executor", "Do jobs that come as JSON lines on standard input (docs/control-protocol.md)",
      [](CLI::App& command, ExecutorOptions& options) {
        command.add_option("--cores", options.cores)->check(whole_number(1, kMostCores));
      },
      [](const ExecutorOptions& options) { return session::run_executor(options.cores); })
      ->group("");
}

}  // namespace podere::cli
