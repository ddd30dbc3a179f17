// podere session: executors that stay, with their tables, for one command after another.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <thread>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/interrupt.h"
#include "podere/cli/arguments.h"
#include "podere/cli/group.h"
#include "podere/cli/help.h"
#include "podere/cli/job_progress.h"
#include "podere/cli/outputs.h"
#include "podere/cli/print.h"
#include "podere/launch/local.h"
#include "podere/session/client.h"
#include "podere/session/live_page.h"
#include "podere/session/server.h"

namespace podere::cli {
namespace {

constexpr auto kPoll = std::chrono::milliseconds(20);

std::string session_text(const Json& status) {
  return fmt::format("session {}: {} executors x {} cores, process {}\n", status.at("session").get<std::string>(),
                     status.at("executors").get<int>(), status.at("cores").get<int>(), status.at("process").get<int>());
}

/// The link to the page of a session that has one.
std::string page_text(const Json& status) {
  const Json page = status.value("page", Json());
  return page.is_null() ? "" : fmt::format("page: {}\n", page.get<std::string>());
}

void add_name(CLI::App& app, std::string& name) {
  app.add_option("NAME", name, "Name of the session [default]")->type_name("");
}

// start

struct StartOptions {
  OutputOptions output;
  GroupOptions group;
  std::string name = "default";
  bool foreground = false;
  bool owned = false;
  std::string prometheus;
  std::string page = session::kPageAddress;
  bool no_page = false;
};

/// Whether the other end of standard input has been closed.
bool owner_has_gone() {
  pollfd input = {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  std::array<char, 256> ignored;
  return poll(&input, 1, 0) > 0 && read(STDIN_FILENO, ignored.data(), ignored.size()) <= 0;
}

int serve(const StartOptions& options) {
  count_interrupts();
  session::SessionPlace place(options.name);
  const TemporaryFolder folder(launch::temporary_folder());
  const SeenFolder seen(options.group, folder);
  session::Session::Options session = session_options(options.group, options.output, folder);
  // Not in /tmp, which is memory on many machines. Executors elsewhere have no such folder, and read tables again.
  std::optional<TemporaryFolder> cache;
  if (options.group.on_this_machine()) {
    cache.emplace(std::getenv("TMPDIR") != nullptr ? launch::temporary_folder() : "/var/tmp");
    session.cache = (cache->path() / "cache").string();
  }
  serve_session(place, {.session = std::move(session),
                        .checkpoints = seen.path().string(),
                        .is_elsewhere = !options.group.on_this_machine(),
                        .prometheus = options.prometheus,
                        .page = options.no_page ? "" : options.page,
                        .stop = [&] { return interrupts() > 0 || (options.owned && owner_has_gone()); },
                        .log = [](const std::string& line) { print_error(line); }});
  return kDone;
}

/// Starts this very command in the foreground of a terminal session of its own, what it says going to the open
/// file `log`.
pid_t spawn_detached(const std::vector<std::string>& arguments, int log) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, log, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, log, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, "/proc/self/exe", &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) throw_error("the session could not be started: error {}", error);
  return pid;
}

/// Of an open file, whose name may be gone.
std::string last_line(int descriptor) {
  std::ifstream file(fmt::format("/proc/self/fd/{}", descriptor));
  std::string last;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) last = line;
  }
  return last.starts_with("podere: ") ? last.substr(8) : last;
}

/// Passes on what a session says while it starts, such as what it waits for. Its last words are left to the code that
/// reports that it ended.
class LogWatch {
 public:
  explicit LogWatch(int descriptor) : descriptor_(descriptor) {}

  void pass_on() {
    if (since_look_.seconds() < kLookSeconds) return;
    since_look_.restart();
    const std::string line = last_line(descriptor_);
    if (line == seen_ && line != shown_) print_error(shown_ = line);
    seen_ = line;
  }

 private:
  static constexpr double kLookSeconds = 0.5;
  int descriptor_;
  Stopwatch since_look_;
  std::string seen_;  // a look ago
  std::string shown_;
};

int start(const StartOptions& options) {
  if (options.foreground) return serve(options);
  const session::SessionPlace place(options.name);
  if (place.is_taken_by_another()) {
    throw_input_error("there is a session called {} already: stop it first, or choose another name", options.name);
  }
  count_interrupts();
  std::vector<std::string> arguments = {"podere", "session", "start", options.name, "--foreground"};
  const std::vector<std::string> of_group = group_arguments(options.group);
  arguments.insert(arguments.end(), of_group.begin(), of_group.end());
  if (!options.prometheus.empty()) arguments.insert(arguments.end(), {"--prometheus", options.prometheus});
  arguments.push_back(options.no_page ? "--no-page" : "--page=" + options.page);
  const int log = open(place.log().c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (log < 0) throw_error("{} cannot be written: {}", place.log().string(), std::strerror(errno));
  const pid_t pid = spawn_detached(arguments, log);
  int status = 0;
  LogWatch watch(log);
  while (!LineSocket::connect(place.socket())) {
    if (interrupts() > 0) kill(pid, SIGTERM);
    if (waitpid(pid, &status, WNOHANG) == pid) {
      const std::string words =
          WIFSIGNALED(status) ? fmt::format("killed by signal {}", WTERMSIG(status)) : last_line(log);
      place.remove_left_behind();
      if (WIFEXITED(status) && WEXITSTATUS(status) == kInputFault) throw InputError(words);
      throw_error("the session ended while it started: {}", words);
    }
    watch.pass_on();
    std::this_thread::sleep_for(kPoll);
  }
  session::Client client(options.name);
  const Json facts = client.ask({{"ask", "status"}});
  show_result(options.output, facts, STDOUT_FILENO, [&] {
    print(session_text(facts) + page_text(facts));
    if (!options.prometheus.empty()) print(fmt::format("counters at {}\n", facts.at("prometheus").get<std::string>()));
  });
  return kDone;
}

void define_start(CLI::App& app, StartOptions& options) {
  add_name(app, options.name);
  app.add_flag("--foreground", options.foreground, "Stay in the foreground until interrupted");
  app.add_option("--prometheus", options.prometheus,
                 "Serve metrics of jobs for Prometheus at http://127.0.0.1:PORT/metrics, or at another address of this "
                 "machine; port 0: any free one")
      ->type_name("[ADDRESS:]PORT")
      ->transform(listening_address());
  app.add_option("--page", options.page,
                 "Address and port of the page that shows what the session does, or at a port after that; its link is "
                 "printed [127.0.0.1:8650]")
      ->type_name("[ADDRESS:]PORT")
      ->transform(listening_address());
  app.add_flag("--no-page", options.no_page, "Serve no page")->excludes("--page");
  app.add_flag("--owned", options.owned)->group("");  // ends with the process that holds its standard input
  add_group_options(app, options.group);
  for (const char* name : {"--session", "--executors-file", "--time", "--submit"}) {
    app.remove_option(app.get_option(name));
  }
  make_common(app, {"--executors"});
  add_output_options(app, options.output);
  app.footer(
      "Example: podere session start higgs --executors 2:4 && podere session load higgs data/higgs_15688.csv.gz "
      "--as higgs --label label\nThen: podere train gbt table:higgs --session higgs -o model.json");
}

// status

struct NamedOptions {
  OutputOptions output;
  std::string name = "default";
  GroupOptions wanted;
  int job = 0;
};

/// "30 of 500", "read"; "" before the first phase.
std::string progress_text(const Json& progress) {
  const auto total = progress.at("total").get<std::uint64_t>();
  if (total <= 1) return progress.at("phase");
  return fmt::format("{} of {}", progress.at("done").get<std::uint64_t>(), total);
}

int status(const NamedOptions& options) {
  const Json facts = session::Client(options.name).ask({{"ask", "status"}});
  show_result(options.output, facts, STDOUT_FILENO, [&] {
    print(session_text(facts) + page_text(facts));
    TextTable jobs({"job", "kind", "state", "seconds", "progress", "message"}, true);
    for (const Json& job : facts.at("jobs")) {
      jobs.add({std::to_string(job.at("job").get<std::int64_t>()), job.at("kind"), job.at("state"),
                fmt::format("{:.1f}", job.at("seconds").get<double>()), progress_text(job.at("progress")),
                job.at("message")});
    }
    print(facts.at("jobs").empty() ? "no jobs yet\n" : jobs.text());
  });
  return kDone;
}

// list

Json status_of(const std::string& name) {
  try {
    return session::Client(name).ask({{"ask", "status"}});
  } catch (const Error&) {
    return {{"session", name}, {"process", session::SessionPlace(name).holder()}};  // it starts, or ends
  }
}

std::string running_text(const Json& status) {
  for (const Json& job : status.value("jobs", Json::array())) {
    if (job.at("state") != "running") continue;
    const std::string progress = progress_text(job.at("progress"));
    return job.at("kind").get<std::string>() + (progress.empty() ? "" : ": ") + progress;
  }
  return "-";
}

int list(const OutputOptions& output) {
  Json all = Json::array();
  for (const std::string& name : session::sessions()) all.push_back(status_of(name));
  show_result(output, {{"sessions", all}}, STDOUT_FILENO, [&] {
    TextTable table({"session", "process", "executors", "tables", "jobs", "now"}, true);
    for (const Json& status : all) {
      std::string tables;
      for (const Json& kept : status.value("tables", Json::array())) {
        tables += fmt::format("{}{} ({})", tables.empty() ? "" : ", ", kept.at("name").get<std::string>(),
                              with_commas(kept.at("rows").get<std::uint64_t>()));
      }
      table.add({status.at("session").get<std::string>(), std::to_string(status.value("process", 0)),
                 fmt::format("{} x {}", status.value("executors", 0), status.value("cores", 0)),
                 tables.empty() ? "-" : tables, std::to_string(status.value("jobs", Json::array()).size()),
                 running_text(status)});
    }
    print(all.empty() ? "no sessions\n" : table.text());
  });
  return kDone;
}

// attach, and what is asked of a session

void show_event(const Json& event, JobProgress& progress) {
  const auto kind = event.value("event", "");
  const auto say = [&](const std::string& text) {
    progress.warn(fmt::format("job {}: {}", event.value("job", 0), text));
  };
  if (kind == "progress") {
    progress.report(
        {event.value("phase", ""), event.value("done", std::size_t{0}), event.value("total", std::size_t{0}), {}});
  } else if (kind == "warning" || kind == "failed") {
    say(event.value("message", ""));
  } else if (kind == "result") {
    say("done");
  }
}

int attach(const NamedOptions& options) {
  session::Client client(options.name);
  count_interrupts();
  JobProgress progress(options.output);
  const bool is_there = client.follow([&](const Json& event) {
    bool has_reader = true;
    if (!event.empty() && options.output.json) has_reader = print_json(event);
    if (!event.empty() && !options.output.json) show_event(event, progress);
    return has_reader && interrupts() == 0;
  });
  progress.clear();
  print_error(is_there ? fmt::format("detached; the session {} keeps running", options.name)
                       : fmt::format("the session {} has ended", options.name));
  return kDone;
}

int stop(const NamedOptions& options) {
  const session::SessionPlace place(options.name);
  const pid_t process = place.holder();
  if (process > 0 && !LineSocket::connect(place.socket())) {
    kill(process, SIGTERM);  // it is starting, and does not listen yet
  } else {
    session::Client(options.name).ask({{"stop", true}});
  }
  // It stops the running job first.
  while (place.is_taken_by_another()) std::this_thread::sleep_for(kPoll);
  show_result(options.output, {{"stopped", options.name}}, STDOUT_FILENO,
              [&] { print(fmt::format("session {} has ended\n", options.name)); });
  return kDone;
}

int scale(const NamedOptions& options) {
  const GroupOptions& wanted = options.wanted;
  const Json answer = session::Client(options.name)
                          .ask({{"scale", {{"executors", wanted.executors}, {"least", wanted.least_executors}}}});
  show_result(options.output, answer, STDOUT_FILENO,
              [&] { print(fmt::format("session {}: {} executors wanted\n", options.name, wanted.executors)); });
  return kDone;
}

int cancel(const NamedOptions& options) {
  const auto state = session::Client(options.name).ask({{"cancel_job", options.job}}).at("state").get<std::string>();
  if (state != "waiting" && state != "running") throw_input_error("job {} has ended already: {}", options.job, state);
  show_result(options.output, {{"cancelled", options.job}}, STDOUT_FILENO,
              [&] { print(fmt::format("stopping job {}\n", options.job)); });
  return kDone;
}

int log(const NamedOptions& options) {
  const Json job = session::Client(options.name).ask({{"ask", "job"}, {"job", options.job}});
  show_result(options.output, job, STDOUT_FILENO, [&] {
    print(fmt::format("job {} ({}): {} {}\n", options.job, job.at("kind").get<std::string>(),
                      job.at("state").get<std::string>(), job.at("message").get<std::string>()));
    for (const Json& line : job.at("log")) print("  " + line.get<std::string>() + "\n");
  });
  return kDone;
}

void define_named(CLI::App& app, NamedOptions& options) {
  add_name(app, options.name);
  app.get_option("NAME")->required();
  add_output_options(app, options.output);
}

void define_job(CLI::App& app, NamedOptions& options) {
  define_named(app, options);
  app.add_option("JOB", options.job, "Number of the job, as podere session status NAME shows it")
      ->required()
      ->transform(whole_number(1, kMostWhole))
      ->type_name("");
}

}  // namespace

void add_session(CLI::App& app, Command& chosen) {
  CLI::App* commands =
      app.add_subcommand("session", "Keep executors and their tables between commands")->require_subcommand(1);
  const auto add = [&](const char* name, const char* description, const auto& define, int (*run)(const NamedOptions&),
                       const char* example) {
    add_command<NamedOptions>(*commands, chosen, name, description, define, run)
        ->footer(fmt::format("Example: podere session {}", example));
  };
  add_command<StartOptions>(*commands, chosen, "start", "Start a session, in the background", define_start, start);
  add_command<OutputOptions>(*commands, chosen, "list", "List your sessions on this machine", add_output_options, list)
      ->footer("Example: podere session list");
  add("status", "Show the jobs of a session, with their numbers", define_named, status, "status higgs");
  add("attach", "Watch the jobs of a session; Ctrl-C detaches", define_named, attach, "attach higgs");
  add("stop", "End a session and its running job", define_named, stop, "stop higgs");
  add(
      "scale", "Change the number of executors; training resumes from a checkpoint",
      [](CLI::App& command, NamedOptions& options) {
        define_named(command, options);
        command
            .add_option_function<std::string>(
                "EXECUTORS", [&options](const std::string& text) { read_executors(text, options.wanted); },
                "Number of executors, or A:B as for --executors")
            ->required()
            ->type_name("");
      },
      scale, "scale higgs 2:8");
  add("cancel", "Cancel a job; training returns the model so far", define_job, cancel, "cancel higgs 3");
  add("log", "Show the state and messages of a job", define_job, log, "log higgs 3");
  add_session_tables(*commands, chosen);
}

}  // namespace podere::cli
