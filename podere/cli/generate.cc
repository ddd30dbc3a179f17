// podere generate higgs: simulated collisions as a file. What else is generated is added from here.

#include <fmt/format.h>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/base/machine.h"
#include "podere/cli/arguments.h"
#include "podere/cli/job_progress.h"
#include "podere/cli/outputs.h"
#include "podere/cli/print.h"
#include "podere/collider/higgs.h"

namespace podere::cli {
namespace {

struct GenerateOptions {
  OutputOptions output;
  std::uint64_t n_events = 0;
  std::uint64_t seed = 0;
  std::string path;
  bool header = false;
  int cores = this_machine().usable_cores();
};

void define_generate(CLI::App& app, GenerateOptions& options) {
  app.add_option("--events", options.n_events, "Number of events, such as 1e6")
      ->required()
      ->transform(count())
      ->type_name("N");
  app.add_option("--seed", options.seed, "Seed of the events [0]")->transform(count())->type_name("S");
  app.add_option("-o,--output", options.path, "File to write")->required()->transform(output_file())->type_name("FILE");
  app.add_flag("--header", options.header, "Write the names of columns as the first line");
  app.add_option("--cores", options.cores, "Threads [all cores]")
      ->transform(whole_number(1, kMostCores))
      ->type_name("C");
  add_output_options(app, options.output);
  app.footer("Example: podere generate higgs --events 1e6 --seed 1 -o higgs.csv");
}

int run_generate(const GenerateOptions& options) {
  if (options.n_events == 0) throw_input_error("--events is 0, allowed is 1 or more");
  const int facts_to = prepare_outputs({{"-o", options.path}}, {});
  const Stopwatch watch;
  JobProgress progress(options.output);
  const std::uint64_t n_events =
      collider::write_csv(options.path, options.seed, options.n_events, options.header, options.cores, progress);
  progress.clear();
  const double seconds = watch.seconds();
  if (options.output.json) {
    print_json({{"events", n_events}, {"seed", options.seed}, {"output", options.path}, {"seconds", seconds}},
               facts_to);
  } else {
    print(fmt::format("{} events in {} ({} events/s): {}\n", with_commas(n_events), duration(seconds),
                      with_commas(static_cast<std::uint64_t>(static_cast<double>(n_events) / seconds)), options.path),
          facts_to);
  }
  return kDone;
}

}  // namespace

void add_generate(CLI::App& app, Command& chosen) {
  CLI::App* generate = app.add_subcommand("generate", "Make data to train on")->require_subcommand(1);
  add_command<GenerateOptions>(*generate, chosen, "higgs", "Simulate collisions, with the columns of the UCI HIGGS set",
                               define_generate, run_generate);
  add_generate_sem(*generate, chosen);
}

}  // namespace podere::cli
