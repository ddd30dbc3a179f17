// podere scale: what a command takes on several numbers of executors and cores.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "podere/base/atomic_file.h"
#include "podere/base/error.h"
#include "podere/base/interrupt.h"
#include "podere/base/machine.h"
#include "podere/base/number.h"
#include "podere/base/read_file.h"
#include "podere/base/sha256.h"
#include "podere/base/subprocess.h"
#include "podere/base/temporary_folder.h"
#include "podere/cli/arguments.h"
#include "podere/cli/help.h"
#include "podere/cli/job_progress.h"
#include "podere/cli/outputs.h"
#include "podere/cli/print.h"
#include "podere/cli/run_report.h"
#include "podere/launch/local.h"
#include "podere/report/page.h"
#include "podere/report/scaling.h"
#include "podere/report/scaling_svg.h"

namespace podere::cli {
namespace {

struct ScaleOptions {
  OutputOptions output;
  std::string path;
  std::string plot;
  std::vector<int> executors;
  std::vector<int> cores;
  int repeats = 3;
  std::optional<std::uint64_t> weak_rows;
  std::vector<std::string> command;
};

/// "1,2,4"
CLI::Option* add_counts(CLI::App& app, const char* name, std::vector<int>& counts, const char* description) {
  return app
      .add_option_function<std::string>(
          name,
          [name, &counts](const std::string& text) {
            counts.clear();
            for (const std::string& part : CLI::detail::split(text, ',')) {
              const auto n = parse_count(part);
              if (!n || *n == 0 || *n > static_cast<std::uint64_t>(kMostCores)) {
                throw CLI::ValidationError(
                    name, fmt::format("'{}' is no list of whole numbers from 1 to {}", text, kMostCores));
              }
              counts.push_back(static_cast<int>(*n));
            }
          },
          description)
      ->type_name("N,...");
}

void define_scale(CLI::App& app, ScaleOptions& options) {
  app.add_option("-o,--output", options.path,
                 "File of the times; it is written after each run, and the same command continues there")
      ->required()
      ->check(file_name())
      ->type_name("FILE.json");
  app.add_option("--plot", options.plot, "Draw seconds and efficiency over cores")
      ->check(CLI::Validator(
          [](std::string& text) {
            return std::filesystem::path(text).extension() == ".svg" ? ""
                                                                     : fmt::format("'{}' does not end in .svg", text);
          },
          "", "svg_file"))
      ->type_name("FILE.svg");
  add_counts(app, "--executors", options.executors,
             "Numbers of executors [powers of 2, as far as this machine has cores]");
  add_counts(app, "--cores", options.cores, "Numbers of cores of each executor [likewise]");
  app.add_option("--repeats", options.repeats, "Runs of each number of executors and cores [3]")
      ->transform(whole_number(1, 1000))
      ->type_name("N");
  app.add_option("--weak", options.weak_rows, "Weak scaling: the first N rows of DATA for each core [all rows: strong]")
      ->transform(whole_number(1, kMostWhole))
      ->type_name("N");
  app.add_option("COMMAND", options.command,
                 "What to run, with its options: train, evaluate, predict, explain, classify or describe")
      ->required()
      ->type_name("");
  app.positionals_at_end();
  app.prefix_command();
  add_output_options(app, options.output);
  app.footer(
      "Example: podere scale -o gbt.json --plot gbt.svg train gbt collider:1e6 --trees 50\n"
      "Options of scale come before the command, those of the command behind it.");
}

struct Point {
  int executors;
  int cores;
};

/// Whether executors are to run elsewhere than on this machine.
bool is_elsewhere(const std::vector<std::string>& command) {
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string& word = command[i];
    if (word == "--hosts" || word.starts_with("--hosts=")) return true;
    if (word.starts_with("--on=") && word != "--on=here") return true;
    if (word == "--on" && i + 1 < command.size() && command[i + 1] != "here") return true;
  }
  return false;
}

std::vector<int> powers_of_two(int most) {
  std::vector<int> powers;
  for (int power = 1; power <= most; power *= 2) powers.push_back(power);
  return powers;
}

/// Throws InputError for points that this machine cannot measure.
std::vector<Point> points_to_measure(const ScaleOptions& options, int usable_cores) {
  const bool is_here = !is_elsewhere(options.command);
  if (!is_here && (options.executors.empty() || options.cores.empty())) {
    throw_input_error("--executors and --cores: say which, as executors are not to run on this machine");
  }
  std::vector<Point> points;
  for (const int executors : options.executors.empty() ? powers_of_two(usable_cores) : options.executors) {
    for (const int cores : options.cores.empty() ? powers_of_two(usable_cores) : options.cores) {
      const bool fits = executors * static_cast<std::int64_t>(cores) <= usable_cores || !is_here;
      const bool is_asked_for = !options.executors.empty() && !options.cores.empty();
      if (fits) points.push_back({executors, cores});
      if (fits || !is_asked_for) continue;
      throw_input_error(
          "{} × {} cores are more than the {} usable ones of this machine, and would share them: leave out "
          "--cores for all that fit, or let executors run on --hosts",
          executors, cores, usable_cores);
    }
  }
  if (points.empty()) {
    throw_input_error("no number of executors and cores fits the {} usable cores of this machine", usable_cores);
  }
  return points;
}

/// Throws InputError for a command that cannot be measured, or with options that this one gives it.
void check_command(const ScaleOptions& options) {
  constexpr std::array<std::string_view, 6> kCommands = {"train",   "evaluate", "predict",
                                                         "explain", "classify", "describe"};
  constexpr auto kOwn = std::to_array<std::string_view>(
      {"--executors", "--executors-file", "--cores", "-o", "--output", "--json", "--metrics", "--report",
       "--tensorboard", "--submit", "--session", "--checkpoint", "--resume", "--help", "-h", "--"});
  const auto& command = options.command;
  if (std::ranges::find(kCommands, command.front()) == kCommands.end()) {
    throw_input_error("'{}' is no command to measure: these are {}", command.front(), fmt::join(kCommands, ", "));
  }
  for (const std::string& word : command) {
    const auto name = std::string_view(word).substr(0, word.find('='));
    if (std::ranges::find(kOwn, name) != kOwn.end()) {
      throw_input_error("{} is not for a command that is measured: leave it out{}", name,
                        name == "--executors" || name == "--cores" ? ", or say it before the command" : "");
    }
    if (name == "--rows" && options.weak_rows) throw_input_error("--rows: --weak says which rows: leave one out");
  }
}

/// Runs the command.
class Runs {
 public:
  explicit Runs(const ScaleOptions& options)
      : options_(options),
        folder_(is_elsewhere(options.command) ? std::filesystem::current_path() : launch::temporary_folder()) {}

  /// Throws Interrupted, and InputError or Error with the command's own message.
  report::ScaleRun measure(const Point& point) const {
    const auto written = folder_.path() / "output";
    std::vector<std::string> argv = {std::filesystem::read_symlink("/proc/self/exe").string()};
    argv.insert(argv.end(), options_.command.begin(), options_.command.end());
    argv.insert(argv.end(), {"--executors", std::to_string(point.executors), "--cores", std::to_string(point.cores)});
    argv.insert(argv.end(), {"--json", "--metrics"});
    if (writes_file()) argv.insert(argv.end(), {"-o", written.string()});
    const std::uint64_t n_rows = options_.weak_rows.value_or(0) * static_cast<std::uint64_t>(point.executors) *
                                 static_cast<std::uint64_t>(point.cores);
    if (n_rows > 0) argv.insert(argv.end(), {"--rows", fmt::format(":{}", n_rows)});

    Json facts = result_of(argv);
    const Json& job = facts.at("metrics").at("job");
    report::ScaleRun run{.executors = point.executors,
                         .cores = point.cores,
                         .seconds = job.at("elapsed_seconds").get<double>(),
                         .start_seconds = facts.at("start_seconds").get<double>(),
                         .wait_share = job.at("wait_seconds").get<double>() / job.at("task_seconds").get<double>(),
                         .rows = facts.value("rows", job.at("rows_read").get<std::uint64_t>()),
                         .peak_memory_bytes = job.at("peak_memory_bytes").get<std::uint64_t>()};
    for (const Json& phase : facts["metrics"].at("phases")) {
      run.phases.push_back({phase.at("phase").get<std::string>(), phase.at("elapsed_seconds").get<double>()});
    }
    if (n_rows > 0 && run.rows != n_rows) {
      throw_input_error("--weak {}: {} cores need {} rows, and there are {}", *options_.weak_rows,
                        point.executors * point.cores, n_rows, run.rows);
    }
    if (!facts.at("losses").empty()) {
      throw_error("executors were lost, so this run does not count; the same command continues with the others in {}",
                  options_.path);
    }
    if (writes_file()) run.sha256 = sha256_of_file(written);
    std::filesystem::remove_all(written);
    return run;
  }

 private:
  bool writes_file() const {
    const std::string& name = options_.command.front();
    return name == "train" || name == "predict" || name == "classify";
  }

  Json result_of(const std::vector<std::string>& argv) const {
    Subprocess process({argv});
    process.close_input();
    std::string output;
    std::string last_error;
    while (!process.streams_ended()) {
      if (interrupts() > 0) {
        process.terminate();
        throw Interrupted{};
      }
      const auto line = process.next_line(100);
      if (!line) continue;
      (line->stream == Subprocess::Stream::kOutput ? output : last_error) = line->text;
    }
    std::optional<int> code;
    while (!(code = process.wait(1000))) continue;
    if (*code == kInputFault) throw_input_error("{}", without_name(last_error));
    Json result = Json::parse(output, nullptr, false);
    if (*code != kDone || !result.is_object()) {
      throw_error("the command ended with {}: {}", *code, without_name(last_error));
    }
    return result;
  }

  static std::string without_name(const std::string& line) {
    constexpr std::string_view kName = "podere: ";
    return line.starts_with(kName) ? line.substr(kName.size()) : line;
  }

  const ScaleOptions& options_;
  TemporaryFolder folder_;
};

std::string command_text(const std::vector<std::string>& command) {
  std::string text = "podere";
  for (const std::string& word : command) text += " " + shell_word(word);
  return text;
}

/// What the file has of this command; throws InputError if it has something else.
report::ScaleStudy study_so_far(const ScaleOptions& options, const Machine& machine) {
  report::ScaleStudy study{.command = command_text(options.command),
                           .weak_rows = options.weak_rows,
                           .cpu = machine.cpu,
                           .usable_cores = machine.usable_cores(),
                           .runs = {}};
  std::error_code unknown;  // what cannot be looked at cannot be read, which says why
  if (std::filesystem::status(options.path, unknown).type() == std::filesystem::file_type::not_found) return study;
  report::check_is_file(options.path);
  const auto found = report::scale_study_of(read_file(options.path), options.path);
  if (found.command != study.command || found.weak_rows != study.weak_rows) {
    throw_input_error("-o {}: holds times of another command, {}: choose another file", options.path, found.command);
  }
  if (found.cpu != study.cpu || found.usable_cores != study.usable_cores) {
    throw_input_error("-o {}: holds times of another machine, {} with {} usable cores: choose another file",
                      options.path, found.cpu, found.usable_cores);
  }
  study.runs = found.runs;
  return study;
}

void write_file(const std::string& path, const std::string& text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

std::size_t n_runs_at(const report::ScaleStudy& study, const Point& point) {
  return static_cast<std::size_t>(std::ranges::count_if(study.runs, [&](const report::ScaleRun& run) {
    return run.executors == point.executors && run.cores == point.cores;
  }));
}

/// Runs what is missing: every point once, then every point again, so that what else the machine does meanwhile
/// reaches all of them.
void measure_missing(const ScaleOptions& options, const std::vector<Point>& points, report::ScaleStudy& study) {
  const auto n_repeats = static_cast<std::size_t>(options.repeats);
  const Runs runs(options);
  JobProgress progress(options.output);
  const std::size_t n_total = n_repeats * points.size();
  for (std::size_t repeat = 0; repeat < n_repeats; ++repeat) {
    for (const Point& point : points) {
      if (n_runs_at(study, point) > repeat) continue;
      std::size_t n_done = 0;
      for (const Point& other : points) n_done += std::min(n_runs_at(study, other), n_repeats);
      progress.report({fmt::format("{} × {} cores", point.executors, point.cores), n_done, n_total, {}, "run"});
      const report::ScaleRun run = runs.measure(point);
      if (!study.runs.empty() && !options.weak_rows && run.rows != study.runs.front().rows) {
        throw_input_error("-o {}: holds times of {} rows, and there are {} now: choose another file", options.path,
                          study.runs.front().rows, run.rows);
      }
      study.runs.push_back(run);
      write_file(options.path, to_text(to_json(study)) + "\n");
    }
  }
}

void print_study(const report::ScaleStudy& study, int descriptor) {
  std::vector<std::string> header = {"executors", "cores each", "seconds", "least", "most", "speed-up", "efficiency"};
  const std::vector<report::ScalePoint> points = points_of(study);
  for (const auto& phase : points.front().phases) header.push_back(phase.phase);
  header.insert(header.end(), {"waiting", "memory each"});
  TextTable table(header);
  for (const report::ScalePoint& point : points) {
    std::vector<std::string> row = {std::to_string(point.executors),
                                    std::to_string(point.cores),
                                    fmt::format("{:.2f}", point.seconds),
                                    fmt::format("{:.2f}", point.least_seconds),
                                    fmt::format("{:.2f}", point.most_seconds),
                                    fmt::format("{:.2f}", point.speed_up),
                                    fmt::format("{:.0f} %", 100 * point.efficiency)};
    for (const auto& phase : points.front().phases) {
      const auto found = std::ranges::find(point.phases, phase.phase, &report::PhaseSeconds::phase);
      row.push_back(found == point.phases.end() ? "-" : fmt::format("{:.2f}", found->seconds));
    }
    row.push_back(fmt::format("{:.0f} %", 100 * point.wait_share));
    row.push_back(megabytes(point.peak_memory_bytes));
    table.add(std::move(row));
  }
  print(table.text(), descriptor);
  const auto same = has_same_results(study);
  if (same && *same && study.runs.size() > 1) print("\nAll runs wrote the same bytes.\n", descriptor);
}

int run_scale(const ScaleOptions& options) {
  check_command(options);
  const Machine machine = this_machine();
  const std::vector<Point> points = points_to_measure(options, machine.usable_cores());
  std::vector<NamedFile> read;  // what the command may read
  for (const std::string& word : options.command) read.push_back({"COMMAND", word});
  const int facts_to = prepare_outputs({{"-o", options.path}, {"--plot", options.plot}}, read);
  report::ScaleStudy study = study_so_far(options, machine);
  // Now: an unwritable place is reported before the work.
  std::optional<AtomicFile> plot;
  if (!options.plot.empty()) plot.emplace(options.plot);
  write_file(options.path, to_text(to_json(study)) + "\n");
  try {
    measure_missing(options, points, study);
  } catch (const Interrupted&) {
    print_error(fmt::format("interrupted after {} runs, which are in {}: the same command continues", study.runs.size(),
                            options.path));
    return kInterrupted;
  }
  if (plot) {
    plot->write(scaling_svg(study));
    plot->commit();
  }
  show_result(options.output, to_json(study), facts_to, [&] { print_study(study, facts_to); });
  if (const auto same = has_same_results(study); same && !*same) {
    print_error("warning: not all runs wrote the same bytes");
  }
  return kDone;
}

}  // namespace

void add_scale(CLI::App& app, Command& chosen) {
  add_command<ScaleOptions>(app, chosen, "scale", "Measure how a command scales over executors and cores", define_scale,
                            run_scale);
}

}  // namespace podere::cli
