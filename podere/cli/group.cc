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
#include "podere/cli/job_progress.h"
#include "podere/cli/print.h"
#include "podere/cli/run_report.h"
#include "podere/cli/submit.h"
#include "podere/jobs/kept_tables.h"
#include "podere/launch/launcher.h"
#include "podere/launch/local.h"
#include "podere/session/client.h"
#include "podere/session/command_page.h"

namespace podere::cli {

namespace {

constexpr int kHeartbeatSeconds = 2;
constexpr double kSilenceSeconds = 30;

/// Looks, now and then, how many executors a file asks for. As long as it cannot be read, or says something else, what
/// it said before counts; what is no number in two looks, so not in the middle of being written, is reported once.
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
      is_reported_ = false;
    } catch (const CLI::ValidationError&) {
      if (text == nonsense_ && !std::exchange(is_reported_, true)) {
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
  bool is_reported_ = false;
};

launch::Place place_of(const GroupOptions& group, const TemporaryFolder& folder) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  std::vector<std::string> program = {self, "executor", "--heartbeat", std::to_string(kHeartbeatSeconds)};
  const int cores = group.cores_each();
  if (cores > 0) {
    program.insert(program.end(), {"--cores", std::to_string(cores)});
  } else {
    program.emplace_back("--even-share");
  }
  return {.wanted = {group.executors, group.least_executors},
          .cores = cores,
          .hosts = group.hosts,
          .ssh = group.ssh,
          .on_slurm = group.on_slurm,
          .slurm_options = group.slurm_options,
          .farm = group.farm,
          .program = std::move(program),
          .folder = folder.path()};
}

/// Moves losses and metrics to the facts of a result, which are returned.
Json& with_cost(Json& result) {
  Json losses = std::move(result.at("losses"));
  Json metrics = std::move(result.at("metrics"));
  for (const char* name : {"losses", "metrics"}) result.erase(name);
  Json& facts = result.contains("facts") ? result["facts"] : result;
  facts["losses"] = std::move(losses);
  facts["metrics"] = std::move(metrics);
  return facts;
}

/// What only a report has.
void without_details(Json& facts, const OutputOptions& output) {
  if (output.metrics != "tasks") facts["metrics"].erase("tasks");
  facts.erase("report");
}

Json run_in_session(const std::string& name, const jobs::Job& job, const OutputOptions& output, JobProgress& progress,
                    const std::function<void(const Json&)>& keep) {
  RunReport report(output);
  report::RunRecorder recorder(progress);
  session::Client client(name);
  const Stopwatch watch;
  std::int64_t number = 0;
  Json result = client.run(job, recorder, title_of(output), [&](std::int64_t job_number, std::size_t n_ahead) {
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
  Json& facts = with_cost(result);
  facts["session"] = name;
  facts["job"] = number;
  facts["start_seconds"] = 0.0;
  facts["session_seconds"] = watch.seconds();
  facts["usable_cores"] = this_machine().usable_cores();
  report.write(recorder, facts);
  without_details(facts, output);
  return result;
}

/// Of a job without a session.
void check_tables_are_files(const jobs::Job& job) {
  for (const source::SourceSpec* source : job.sources()) {
    const auto name = source::kept_name(source->location);
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
  if (!group.executors_file.empty() && group.on_kubernetes) {
    throw_input_error("--executors-file: the farm's pods say how many there are; scale the farm instead");
  }
  note_notices();
  session::Session::Options options{.n_executors = group.executors,
                                    .least = group.least_executors,
                                    .launcher = launch::make_launcher(place_of(group, folder)),
                                    .driver = {.silence_seconds = kSilenceSeconds},
                                    .notice = take_notice};
  options.driver.advice = options.launcher->advice();
  if (!group.executors_file.empty()) {
    options.wanted =
        ExecutorsFile(group.executors_file, {group.executors, group.least_executors}, group.needed_executors);
  }
  if (output.debug) {
    options.driver.on_error_line = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  }
  return options;
}

void submit_if_asked(const GroupOptions& group, const OutputOptions& output) {
  check_slurm_options(group);
  if (!group.submit) return;
  submit_this_command(group, output);
  throw Submitted();
}

Json run_job(const GroupOptions& group, const OutputOptions& output, const jobs::Job& job,
             const std::function<void(const Json&)>& keep) {
  submit_if_asked(group, output);
  if (!group.session.empty() && !output.page.empty()) {
    throw_input_error("--page: the session {} has a page of its own, podere session status {} prints its link",
                      group.session, group.session);
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
  RunReport report(output);
  std::optional<session::CommandPage> page;
  if (!output.page.empty()) page.emplace(output.page, title_of(output), options, progress);
  report::RunRecorder recorder(page ? static_cast<Progress&>(*page) : progress);
  double start_seconds = 0;
  Json result;
  try {
    session::Session session(std::move(options), recorder);
    if (page) page->watch(session);
    start_seconds = watch.seconds();
    const SeenFolder seen(group, folder);
    result = session.run(with_checkpoint(job, seen.path() / "checkpoint.json"), recorder);
    progress.clear();
    if (keep) keep(result);
    if (page) page->end(result);
    session.end();
  } catch (const Interrupted&) {
    if (page) page->fail("");
    throw;
  } catch (const std::exception& error) {
    if (page) page->fail(error.what());
    throw;
  }
  Json& facts = with_cost(result);
  facts["start_seconds"] = start_seconds;
  facts["usable_cores"] = usable_cores;
  if (!warning.empty()) facts["warning"] = warning;
  report.write(recorder, facts);
  without_details(facts, output);
  return result;
}

}  // namespace podere::cli
