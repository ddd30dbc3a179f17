// podere network: what podere scale asks before it models.
#include <fmt/format.h>

#include "podere/base/interrupt.h"
#include "podere/cli/arguments.h"
#include "podere/cli/group.h"
#include "podere/cli/outputs.h"
#include "podere/cli/print.h"
#include "podere/jobs/network_job.h"

namespace podere::cli {
namespace {

struct NetworkCommand {
  OutputOptions output;
  GroupOptions group;
};

int run_network_measurement(const NetworkCommand& options) {
  count_interrupts();
  const Json result = run_job(options.group, options.output, jobs::NetworkJob{});
  show_result(options.output, result, STDOUT_FILENO, [&] {
    print(fmt::format("{:.3g} µs a step, {:.3g} Gbit/s\n", result.at("latency_us").get<double>(),
                      result.at("gigabits").get<double>()));
  });
  return kDone;
}

}  // namespace

void add_network(CLI::App& app, Command& chosen) {
  add_command<NetworkCommand>(
      app, chosen, "network", "Measure what connects executors",
      [](CLI::App& command, NetworkCommand& options) {
        add_group_options(command, options.group);
        add_output_options(command, options.output);
      },
      run_network_measurement)
      ->group("");
}

}  // namespace podere::cli
