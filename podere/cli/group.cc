#include "podere/cli/group.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/base/interrupt.h"
#include "podere/base/machine.h"
#include "podere/base/printable.h"
#include "podere/cli/farm_group.h"
#include "podere/cli/job_progress.h"
#include "podere/cli/print.h"
#include "podere/cli/submit.h"
#include "podere/launch/hosts.h"
#include "podere/launch/local.h"
#include "podere/launch/slurm.h"
#include "podere/session/client.h"
#include "podere/session/kept_tables.h"

namespace podere::cli {

namespace {

constexpr int kHeartbeatSeconds = 2;
constexpr double kSilenceSeconds = 30;

/// Looks, now and then, how many executors a file asks for. As long as it cannot be read, or says something else, what
/// it said before counts; what is no number in two looks, so not in the middle of being written, is told once.
class ExecutorsFile {
 public:
  ExecutorsFile(std::string path, session::Wanted wanted, int needed)
      : path_(std::move(path)), wanted_(wanted), needed_(needed) {}

  session::Wanted operator()() {
    if (since_look_.seconds() < kLookSeconds) return wanted_;
    since_look_.restart();
    std::string text;
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path_, ignored)) return wanted_;  // a pipe would wait for who writes
    if (std::ifstream file(path_); !(file >> text)) return wanted_;
    try {
      GroupOptions group;
      read_executors(text, group);
      wanted_ = {std::max(group.executors, needed_), std::max(group.least_executors, needed_)};
      is_told_ = false;
    } catch (const CLI::ValidationError&) {
      if (text == nonsense_ && !std::exchange(is_told_, true)) {
        print_error(fmt::format("warning: {}: {} is not a whole number from 1 to {}, or two of them as A:B", path_,
                                printable(text), session::kMostExecutors));
      }
      nonsense_ = text;
    }
    return wanted_;
  }

 private:
  static constexpr double kLookSeconds = 0.5;
  std::string path_;
  session::Wanted wanted_;
  int needed_;
  Stopwatch since_look_;
  std::string nonsense_;  // that was there instead
  bool is_told_ = false;
};

void launch_here(session::Session::Options& options, const std::vector<std::string>& program,
                 const std::filesystem::path& folder) {
  const int usable_cores = this_machine().usable_cores();
  check_executors_here(options.n_executors, usable_cores);
  if (options.n_executors > 1) launch::find_mpirun();
  launch::check_open_files(options.n_executors);
  launch::check_session_folder(folder, options.n_executors);
  options.launch = [program, folder](int n) { return launch::local(n, program, folder); };
  options.room = [usable_cores] { return most_executors_here(usable_cores); };
}

void launch_on_hosts(session::Session::Options& options, const std::vector<std::string>& program,
                     const std::filesystem::path& folder, const GroupOptions& group) {
  auto hosts = std::make_shared<std::vector<launch::Host>>(launch::read_hosts(group.hosts));
  launch::find_mpirun();
  launch::check_ssh(group.ssh);
  launch::check_open_files(options.n_executors);
  launch::check_session_folder(folder, options.n_executors);
  const auto command = [program, folder, group, hosts](int n) {
    return launch::on_hosts(n, program, *hosts, group.ssh, folder, group.hosts);
  };
  command(options.n_executors);  // more than there are slots are refused now
  options.launch = [command, hosts](int n) {
    if (n <= launch::n_slots(*hosts)) return command(n);
    throw_error("the hosts that still answer have {} slots, {} executors are too many", launch::n_slots(*hosts), n);
  };
  // Hosts that do not answer are not asked again.
  options.room = [group, hosts] {
    *hosts = launch::answering(*hosts, group.ssh);
    return launch::n_slots(*hosts);
  };
}

void launch_on_slurm(session::Session::Options& options, const std::vector<std::string>& program,
                     const GroupOptions& group) {
  launch::check_allocation();
  options.driver.advice = launch::kSrunAdvice;
  options.launch = [program, group](int n) {
    return launch::in_allocation(n, group.cores_each(), program, group.slurm_options);
  };
}

void launch_on_farm(session::Session::Options& options, const std::vector<std::string>& program,
                    const std::filesystem::path& folder, const GroupOptions& group) {
  launch::find_mpirun();
  launch::check_ssh("ssh");
  launch::check_open_files(options.n_executors);
  launch::check_session_folder(folder, options.n_executors);
  const auto farm = std::make_shared<FarmGroup>(group, folder);
  options.launch = [farm, program](int n) { return farm->launch(n, program); };
  options.room = [farm] { return farm->room(); };
  options.wanted = [farm] { return farm->wanted(); };
  options.await_room = [farm](Progress& progress) { farm->await_room(progress); };
}

/// Moves losses and metrics to the facts of a result, which are returned.
session::Json& with_cost(session::Json& result, const OutputOptions& output) {
  session::Json losses = std::move(result.at("losses"));
  session::Json metrics = std::move(result.at("metrics"));
  if (output.metrics != "tasks") metrics.erase("tasks");
  for (const char* name : {"losses", "metrics"}) result.erase(name);
  session::Json& facts = result.contains("facts") ? result["facts"] : result;
  facts["losses"] = std::move(losses);
  facts["metrics"] = std::move(metrics);
  return facts;
}

session::Json run_in_session(const std::string& name, const session::Job& job, const OutputOptions& output,
                             JobProgress& progress, const std::function<void(const session::Json&)>& keep) {
  session::Client client(name);
  const Stopwatch watch;
  std::int64_t number = 0;
  session::Json result = client.run(job, progress, [&](std::int64_t job_number, std::size_t n_ahead) {
    number = job_number;
    const std::string text = fmt::format("job {} of session {}", number, name);
    if (n_ahead > 0) {
      progress.warn(fmt::format("{}: waits for {} job{}", text, n_ahead, n_ahead == 1 ? "" : "s"));
    } else if (JobProgress::style_for(output) == JobProgress::Style::kBar) {
      progress.warn(text);
    }
  });
  progress.clear();
  if (keep) keep(result);
  session::Json& facts = with_cost(result, output);
  facts["session"] = name;
  facts["job"] = number;
  facts["start_seconds"] = 0.0;
  facts["session_seconds"] = watch.seconds();
  facts["usable_cores"] = this_machine().usable_cores();
  return result;
}

/// Of a job without a session.
void check_tables_are_files(const session::Job& job) {
  for (const session::SourceSpec* source : job.sources()) {
    const auto name = session::kept_name(source->location);
    if (!name) continue;
    throw_input_error("there is no table called {}: tables are kept by sessions, name one with --session", *name);
  }
}

}  // namespace

SeenFolder::SeenFolder(const GroupOptions& group, const TemporaryFolder& folder) : here_(folder) {
  if (!group.on_this_machine()) shared_.emplace(std::filesystem::current_path());
}

session::Session::Options session_options(const GroupOptions& group, const OutputOptions& output,
                                          const TemporaryFolder& folder) {
  if (group.on_kubernetes == group.farm.empty()) throw_input_error("--on kubernetes and --farm NAME go together");
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  std::vector<std::string> program = {self, "executor", "--heartbeat", std::to_string(kHeartbeatSeconds)};
  if (const int cores = group.cores_each(); cores > 0) {
    program.insert(program.end(), {"--cores", std::to_string(cores)});
  } else {
    program.emplace_back("--even-share");
  }
  session::Session::Options options{.n_executors = group.executors,
                                    .least = group.least_executors,
                                    .launch = {},
                                    .driver = {.silence_seconds = kSilenceSeconds},
                                    .notice = take_notice};
  note_notices();
  if (!group.executors_file.empty() && group.on_kubernetes) {
    throw_input_error("--executors-file: the farm's pods say how many there are; scale the farm instead");
  }
  if (!group.executors_file.empty()) {
    options.wanted =
        ExecutorsFile(group.executors_file, {group.executors, group.least_executors}, group.needed_executors);
  }
  if (!group.hosts.empty()) {
    launch_on_hosts(options, program, folder.path(), group);
  } else if (group.on_slurm) {
    launch_on_slurm(options, program, group);
  } else if (group.on_kubernetes) {
    launch_on_farm(options, program, folder.path(), group);
  } else {
    launch_here(options, program, folder.path());
  }
  if (output.debug) {
    options.driver.on_error_line = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  }
  return options;
}

session::Json run_job(const GroupOptions& group, const OutputOptions& output, const session::Job& job,
                      const std::function<void(const session::Json&)>& keep) {
  check_slurm_options(group);
  if (group.submit) {
    submit_this_command(group, output);
    throw Submitted();
  }
  const Stopwatch watch;
  JobProgress progress(output);
  if (group.session.empty()) check_tables_are_files(job);
  if (!group.session.empty()) return run_in_session(group.session, job, output, progress, keep);
  const TemporaryFolder folder(launch::temporary_folder());
  session::Session::Options options = session_options(group, output, folder);
  const int usable_cores = this_machine().usable_cores();
  const std::string warning = group.too_many(usable_cores);
  if (!warning.empty()) print_error("warning: " + warning);
  session::Session session(std::move(options), progress);
  const double start_seconds = watch.seconds();
  const SeenFolder seen(group, folder);
  session::Json result = session.run(with_checkpoint(job, seen.path() / "checkpoint.json"), progress);
  progress.clear();
  if (keep) keep(result);
  session.end();
  session::Json& facts = with_cost(result, output);
  facts["start_seconds"] = start_seconds;
  facts["usable_cores"] = usable_cores;
  if (!warning.empty()) facts["warning"] = warning;
  return result;
}

}  // namespace podere::cli
