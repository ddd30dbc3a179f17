#include "podere/cli/group.h"

#include <cstdio>
#include <filesystem>

#include "podere/base/clock.h"
#include "podere/base/machine.h"
#include "podere/cli/job_progress.h"
#include "podere/cli/print.h"
#include "podere/launch/local.h"

namespace podere::cli {

session::Driver start_executors(const GroupOptions& group, const OutputOptions& output, Progress& progress) {
  const int cores = group.cores_each();
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  if (group.executors > 1) launch::find_mpirun();
  launch::check_session_folder(launch::temporary_folder(), group.executors);
  session::Driver::Options options{.n_executors = group.executors};
  if (output.debug) options.on_error_line = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  return {launch::local(group.executors, {self, "executor", "--cores", std::to_string(cores)}), std::move(options),
          progress};
}

session::Json run_job(const GroupOptions& group, const OutputOptions& output, const session::Job& job,
                      const std::function<void(const session::Json&)>& keep) {
  const Stopwatch watch;
  JobProgress progress(output);
  session::Driver driver = start_executors(group, output, progress);
  const double start_seconds = watch.seconds();
  const int usable_cores = this_machine().usable_cores();
  const std::string warning = group.too_many(usable_cores);
  if (!warning.empty()) print_error("warning: " + warning);
  session::Json result = driver.run(job, progress);
  progress.clear();
  if (keep) keep(result);
  driver.end();
  session::Json& facts = result.contains("facts") ? result["facts"] : result;
  facts["start_seconds"] = start_seconds;
  facts["usable_cores"] = usable_cores;
  if (!warning.empty()) facts["warning"] = warning;
  return result;
}

}  // namespace podere::cli
