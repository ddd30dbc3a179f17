// What commands that compute with a matrix share.
#pragma once

#include <functional>
#include <string>

#include "podere/cli/arguments.h"
#include "podere/cli/arrays_output.h"
#include "podere/cli/group.h"
#include "podere/cli/outputs.h"
#include "podere/cli/run_report.h"
#include "podere/jobs/matrix_input.h"
#include "podere/jobs/report_facts.h"

namespace podere::cli {

/// A command that runs a job on a matrix and writes arrays.
template <typename Job>
struct MatrixCommand : ArraysOptions {
  OutputOptions output;
  GroupOptions group;
  Job job;
};

/// "--impute none|mean".
void add_impute_option(CLI::App& app, jobs::Impute& impute);

/// What was read, and what became of missing values.
void print_matrix(const Json& facts, int descriptor);

/// Runs the job and commits its output. print_text(facts, descriptor) says what was found, after print_matrix; "output"
/// of the facts is its path, if there is one.
template <typename Job>
int run_matrix_command(MatrixCommand<Job>& command, const std::function<void(const Json&, int)>& print_text) {
  Job& job = command.job;
  const std::vector<NamedFile> outputs = {{"-o", command.path}, {"--report", command.output.report}};
  check_outputs(outputs, job.table);
  const int facts_to = prepare_outputs(outputs, {named_file("DATA", job.table)});
  ArraysOutput output(command);
  job.output_format = output.format();
  job.output = output.path();
  const OutputOptions named = named_run(command.output, Job::kKind, "", jobs::name_of(job.table));
  Json facts = run_job(command.group, named, job, [&](const Json&) { output.commit(); });
  if (!command.path.empty()) facts["output"] = command.path;
  show_result(command.output, facts, facts_to, [&] {
    print_matrix(facts, facts_to);
    print_text(facts, facts_to);
  });
  return kDone;
}

}  // namespace podere::cli
