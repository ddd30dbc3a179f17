#include "podere/scaling/measure.h"

#include <fmt/format.h>

#include <algorithm>

#include "podere/base/error.h"
#include "podere/base/sha256.h"

namespace podere::scaling {
namespace {

std::uint64_t weak_rows_of(const Plan& plan, const Shape& shape) {
  return plan.weak_rows.value_or(0) * static_cast<std::uint64_t>(shape.total_cores());
}

Words words_of(const Plan& plan, const Shape& shape) {
  Words words = plan.command;
  words.insert(words.end(), {"--executors", std::to_string(shape.executors), "--cores", std::to_string(shape.cores),
                             "--json", "--metrics"});
  if (writes_file(plan.command)) words.insert(words.end(), {"-o", plan.output.string()});
  if (plan.weak_rows) words.insert(words.end(), {"--rows", fmt::format(":{}", weak_rows_of(plan, shape))});
  return words;
}

/// Out of what the command prints.
Run run_of(const Json& facts, const Shape& shape) {
  const Json& job = facts.at("metrics").at("job");
  const double task_seconds = job.at("task_seconds").get<double>();
  Run run{.executors = shape.executors,
          .cores = shape.cores,
          .seconds = job.at("elapsed_seconds").get<double>(),
          .start_seconds = facts.at("start_seconds").get<double>(),
          .wait_share = task_seconds > 0 ? job.at("wait_seconds").get<double>() / task_seconds : 0,
          .rows = facts.value("rows", job.at("rows_read").get<std::uint64_t>()),
          .peak_memory_bytes = job.at("peak_memory_bytes").get<std::uint64_t>()};
  for (const Json& phase : facts.at("metrics").at("phases")) {
    run.phases.push_back({phase.at("phase").get<std::string>(), phase.at("elapsed_seconds").get<double>()});
  }
  const Json communication = facts.value("communication", Json::object());
  for (const auto& [kind, cost] : communication.items()) {
    run.collectives.push_back({kind, cost.at("calls").get<std::uint64_t>(), cost.at("bytes").get<std::uint64_t>()});
  }
  return run;
}

Run measure(const Plan& plan, const Shape& shape, const RunProgram& program) {
  const Json facts = program(words_of(plan, shape));
  Run run = run_of(facts, shape);
  if (plan.weak_rows && run.rows != weak_rows_of(plan, shape)) {
    throw_input_error("--weak {}: {} cores need {} rows, and there are {}", *plan.weak_rows, shape.total_cores(),
                      weak_rows_of(plan, shape), run.rows);
  }
  if (!facts.at("losses").empty()) {
    throw_error("executors were lost, so this run does not count; the same command continues with the others");
  }
  if (writes_file(plan.command)) {
    run.sha256 = sha256_of_file(plan.output);
    std::filesystem::remove_all(plan.output);
  }
  return run;
}

std::size_t n_runs_of(const Study& study, const Shape& shape) {
  return static_cast<std::size_t>(
      std::ranges::count_if(study.runs, [&](const Run& run) { return run.shape() == shape; }));
}

std::size_t n_done_of(const Plan& plan, const Study& study) {
  std::size_t n_done = 0;
  for (const Shape& shape : plan.shapes) n_done += std::min(n_runs_of(study, shape), plan.n_repeats);
  return n_done;
}

}  // namespace

void measure_missing(const Plan& plan, Study& study, const RunProgram& program, Progress& progress,
                     const std::function<void()>& keep) {
  for (std::size_t repeat = 0; repeat < plan.n_repeats; ++repeat) {
    for (const Shape& shape : plan.shapes) {
      if (n_runs_of(study, shape) > repeat) continue;
      progress.report({fmt::format("{} cores", to_string(shape)),
                       n_done_of(plan, study),
                       plan.n_repeats * plan.shapes.size(),
                       {},
                       "run"});
      Run run = measure(plan, shape, program);
      if (!study.runs.empty() && !plan.weak_rows && run.rows != study.runs.front().rows) {
        throw_input_error("the times so far are of {} rows, and there are {} now: choose another file with -o",
                          study.runs.front().rows, run.rows);
      }
      study.runs.push_back(std::move(run));
      keep();
    }
  }
}

Network measure_network(const Words& command, int n_executors, const RunProgram& program) {
  Words words = {"network", "--executors", std::to_string(n_executors), "--cores", "1", "--json"};
  const Words place = place_words(command);
  words.insert(words.end(), place.begin(), place.end());
  const Json facts = program(words);
  return {.latency_us = facts.at("latency_us").get<double>(), .gigabits = facts.at("gigabits").get<double>()};
}

}  // namespace podere::scaling
