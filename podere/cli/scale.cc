// podere scale: what a command takes on several numbers of executors and cores.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "podere/base/atomic_file.h"
#include "podere/base/error.h"
#include "podere/base/interrupt.h"
#include "podere/base/machine.h"
#include "podere/base/number.h"
#include "podere/base/temporary_folder.h"
#include "podere/cli/arguments.h"
#include "podere/cli/help.h"
#include "podere/cli/job_progress.h"
#include "podere/cli/outputs.h"
#include "podere/cli/print.h"
#include "podere/cli/run_report.h"
#include "podere/launch/local.h"
#include "podere/scaling/conclusions.h"
#include "podere/scaling/measure.h"
#include "podere/scaling/shapes.h"
#include "podere/scaling/study_file.h"
#include "podere/scaling/study_svg.h"

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
  scaling::Wanted wanted;
  scaling::Words command;
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

/// "50,10"
scaling::Network parse_network(const std::string& text) {
  const std::vector<std::string> parts = CLI::detail::split(text, ',');
  const auto latency = parts.size() == 2 ? parse_real(parts[0]) : std::nullopt;
  const auto gigabits = parts.size() == 2 ? parse_real(parts[1]) : std::nullopt;
  constexpr double kMost = 1e6;  // a second; a petabit
  if (!latency || !gigabits || !(*latency >= 0 && *latency <= kMost) || !(*gigabits > 0 && *gigabits <= kMost)) {
    throw CLI::ValidationError(
        "--network", fmt::format("'{}' is not microseconds and Gbit/s, such as 50,10 for 10-Gbit Ethernet", text));
  }
  return {.latency_us = *latency, .gigabits = *gigabits};
}

CLI::Validator svg_file() {
  return {[](std::string& text) {
            return std::filesystem::path(text).extension() == ".svg" ? ""
                                                                     : fmt::format("'{}' does not end in .svg", text);
          },
          "", "svg_file"};
}

/// What is to be measured.
void define_measuring(CLI::App& app, ScaleOptions& options) {
  add_counts(app, "--executors", options.executors,
             "Numbers of executors [powers of 2, as far as this machine has cores]");
  add_counts(app, "--cores", options.cores, "Numbers of cores of each executor [likewise]");
  app.add_option("--repeats", options.repeats, "Runs of each number of executors and cores [3]")
      ->transform(whole_number(1, 1000))
      ->type_name("N");
  app.add_option("--weak", options.weak_rows, "Weak scaling: the first N rows of DATA for each core [all rows: strong]")
      ->transform(whole_number(1, kMostWhole))
      ->type_name("N");
}

/// What is to be made of it.
void define_conclusions(CLI::App& app, ScaleOptions& options) {
  app.add_option("--plot", options.plot, "Draw seconds and efficiency over cores")
      ->check(svg_file())
      ->type_name("FILE.svg");
  app.add_flag("--suggest", options.wanted.suggests, "Say how many executors and cores to use, and why");
  auto* model = add_counts(app, "--model", options.wanted.modeled_cores,
                           "Also compute what so many cores in all would take, beyond those measured");
  app.add_option_function<std::string>(
         "--network", [&options](const std::string& text) { options.wanted.network = parse_network(text); },
         "What connects executors that are modeled: latency in microseconds, Gbit/s [as measured between executors]")
      ->needs(model)
      ->type_name("US,GBIT");
}

void define_scale(CLI::App& app, ScaleOptions& options) {
  app.add_option("-o,--output", options.path,
                 "File of the times; it is written after each run, and the same command continues there")
      ->required()
      ->check(file_name())
      ->type_name("FILE.json");
  define_measuring(app, options);
  define_conclusions(app, options);
  app.add_option("COMMAND", options.command,
                 "What to run, with its options: train, evaluate, predict, explain, classify or describe")
      ->required()
      ->type_name("");
  app.positionals_at_end();
  app.prefix_command();
  add_output_options(app, options.output);
  app.footer(
      "Example: podere scale -o gbt.json --plot gbt.svg --suggest train gbt collider:1e6 --trees 50\n"
      "Options of scale come before the command, those of the command behind it.");
}

std::string command_text(const scaling::Words& command) {
  std::string text = "podere";
  for (const std::string& word : command) text += " " + shell_word(word);
  return text;
}

std::vector<std::string> row_of(const scaling::Point& point, const std::vector<scaling::PhaseSeconds>& phases) {
  const auto measured = [&](std::string text) { return point.is_modeled ? "-" : std::move(text); };
  std::vector<std::string> row = {std::to_string(point.executors),
                                  std::to_string(point.cores),
                                  fmt::format("{:.2f}", point.seconds),
                                  measured(fmt::format("{:.2f}", point.least_seconds)),
                                  measured(fmt::format("{:.2f}", point.most_seconds)),
                                  fmt::format("{:.2f}", point.speed_up),
                                  fmt::format("{:.0f} %", 100 * point.efficiency)};
  for (const auto& [phase, ignored] : phases) {
    const auto found = std::ranges::find(point.phases, phase, &scaling::PhaseSeconds::phase);
    row.push_back(found == point.phases.end() ? "-" : fmt::format("{:.2f}", found->seconds));
  }
  row.push_back(measured(fmt::format("{:.0f} %", 100 * point.wait_share)));
  row.push_back(measured(megabytes(point.peak_memory_bytes)));
  row.emplace_back(point.is_modeled ? "modeled" : "");
  return row;
}

void print_points(const std::vector<scaling::Point>& points, int descriptor) {
  std::vector<std::string> header = {"executors", "cores each", "seconds", "least", "most", "speed-up", "efficiency"};
  for (const auto& phase : points.front().phases) header.push_back(phase.phase);
  header.insert(header.end(), {"waiting", "memory each"});
  const bool has_modeled = std::ranges::any_of(points, &scaling::Point::is_modeled);
  if (has_modeled) header.emplace_back("");
  TextTable table(header);
  for (const scaling::Point& point : points) {
    std::vector<std::string> row = row_of(point, points.front().phases);
    if (!has_modeled) row.pop_back();
    table.add(std::move(row));
  }
  print(table.text(), descriptor);
}

void print_study(const scaling::Study& study, const scaling::Conclusions& found, int descriptor) {
  print_points(found.points, descriptor);
  const auto same = has_same_results(study);
  if (same && *same && study.runs.size() > 1) print("\nAll runs wrote the same bytes.\n", descriptor);
  if (found.model) print(fmt::format("\n{}\n", in_words(*found.model)), descriptor);
  if (found.papers) print(fmt::format("\n{}\n", in_words(*found.papers)), descriptor);
  if (!found.suggestion) return;
  std::string text = "\nSuggested\n";
  for (const std::string& reason : found.suggestion->reasons) text += fmt::format("  {}\n", reason);
  print(text, descriptor);
}

/// Throws InputError for conclusions that will not be possible: before hours are measured.
void check_wanted(const ScaleOptions& options, const scaling::Study& study, std::vector<scaling::Shape> shapes) {
  const scaling::Wanted& wanted = options.wanted;
  if (options.weak_rows && (wanted.suggests || !wanted.modeled_cores.empty())) {
    throw_input_error("--{} is for strong scaling, where all points have the same rows: leave --weak out",
                      wanted.suggests ? "suggest" : "model");
  }
  if (wanted.modeled_cores.empty()) return;
  for (const scaling::Run& run : study.runs) shapes.push_back(run.shape());
  check_can_model(shapes, wanted.modeled_cores);
}

void measure(const ScaleOptions& options, const std::vector<scaling::Shape>& shapes, const scaling::StudyFile& file,
             scaling::Study& study) {
  const TemporaryFolder folder(scaling::runs_elsewhere(options.command) ? std::filesystem::current_path()
                                                                        : launch::temporary_folder());
  const scaling::Plan plan{.command = options.command,
                           .shapes = shapes,
                           .n_repeats = static_cast<std::size_t>(options.repeats),
                           .weak_rows = options.weak_rows,
                           .output = folder.path() / "output"};
  JobProgress progress(options.output);
  const auto keep = [&] { file.write(to_json(study)); };
  measure_missing(plan, study, scaling::run_this_program, progress, keep);
  if (options.wanted.modeled_cores.empty() || study.network) return;
  progress.report({"network between executors", 0, 1, {}});
  const int most = std::ranges::max(study.runs, {}, &scaling::Run::executors).executors;
  study.network = scaling::measure_network(options.command, most, scaling::run_this_program);
  keep();
}

int run_scale(const ScaleOptions& options) {
  scaling::check_command(options.command, options.weak_rows.has_value());
  const Machine machine = this_machine();
  const auto shapes =
      scaling::shapes_to_measure(options.executors, options.cores, options.command, machine.usable_cores());
  std::vector<NamedFile> read;  // what the command may read
  for (const std::string& word : options.command) read.push_back({"COMMAND", word});
  const int facts_to = prepare_outputs({{"-o", options.path}, {"--plot", options.plot}}, read);
  const scaling::StudyFile file(options.path);
  scaling::Study study{.command = command_text(options.command),
                       .weak_rows = options.weak_rows,
                       .cpu = machine.cpu,
                       .usable_cores = machine.usable_cores(),
                       .runs = {},
                       .network = {}};
  file.read_into(study);
  check_wanted(options, study, shapes.measured);
  // Now: an unwritable place is reported before the work.
  std::optional<AtomicFile> plot;
  if (!options.plot.empty()) plot.emplace(options.plot);
  file.write(to_json(study));
  for (const scaling::Shape& shape : shapes.left_out) {
    print_error(fmt::format("warning: {} cores are left out: the command needs {} executors at least", to_string(shape),
                            scaling::needed_executors(options.command)));
  }
  try {
    measure(options, shapes.measured, file, study);
  } catch (const Interrupted&) {
    print_error(fmt::format("interrupted after {} runs, which are in {}: the same command continues", study.runs.size(),
                            options.path));
    return kInterrupted;
  }
  const scaling::Conclusions found = conclude(study, options.wanted);
  const Json facts = to_json(study, found);
  file.write(facts);
  if (plot) {
    plot->write(study_svg(study, found.points));
    plot->commit();
  }
  show_result(options.output, facts, facts_to, [&] { print_study(study, found, facts_to); });
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
