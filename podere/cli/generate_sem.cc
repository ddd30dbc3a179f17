// podere generate sem: simulated micrographs as a folder.
#include <fmt/format.h>

#include <string>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/base/interrupt.h"
#include "podere/base/machine.h"
#include "podere/cli/arguments.h"
#include "podere/cli/command.h"
#include "podere/cli/job_progress.h"
#include "podere/cli/print.h"
#include "podere/image/micrograph_files.h"

namespace podere::cli {
namespace {

struct SemOptions {
  OutputOptions output;
  std::uint64_t n_images = 0;
  std::uint64_t seed = 0;
  std::string path;
  int cores = this_machine().usable_cores();
};

void define_sem(CLI::App& app, SemOptions& options) {
  app.add_option("--images", options.n_images, "Number of pictures, such as 2000: 0.8 MB each")
      ->required()
      ->transform(count())
      ->type_name("N");
  app.add_option("--seed", options.seed, "Seed of the pictures [0]")->transform(count())->type_name("S");
  app.add_option("-o,--output", options.path, "Folder to make: a folder for each kind in it, and LABELS.csv")
      ->required()
      ->check(file_name())
      ->type_name("FOLDER");
  app.add_option("--cores", options.cores, "Threads [all cores]")
      ->transform(whole_number(1, kMostCores))
      ->type_name("C");
  add_output_options(app, options.output);
  app.footer("Example: podere generate sem --images 2000 --seed 1 -o micrographs");
}

int run_sem(const SemOptions& options) {
  if (options.n_images == 0) throw_input_error("--images is 0, allowed is 1 or more");
  count_interrupts();  // before there is a folder that would be left behind
  const Stopwatch watch;
  JobProgress progress(options.output);
  image::write_micrographs(options.path, options.seed, options.n_images, options.cores, progress);
  progress.clear();
  const double seconds = watch.seconds();
  if (options.output.json) {
    print_json({{"images", options.n_images}, {"seed", options.seed}, {"output", options.path}, {"seconds", seconds}});
  } else {
    print(fmt::format("{} pictures in {} ({:.0f} pictures/s): {}\n", with_commas(options.n_images), duration(seconds),
                      static_cast<double>(options.n_images) / seconds, options.path));
  }
  return kDone;
}

}  // namespace

void add_generate_sem(CLI::App& generate, Command& chosen) {
  add_command<SemOptions>(generate, chosen, "sem", "Simulate micrographs of ten kinds of objects, as TIFF files",
                          define_sem, run_sem);
}

}  // namespace podere::cli
