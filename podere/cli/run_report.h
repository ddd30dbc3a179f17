// The report of a command that runs a job: what --report writes.
#pragma once

#include <optional>
#include <string>

#include "podere/base/atomic_file.h"
#include "podere/cli/arguments.h"
#include "podere/report/live_runs.h"
#include "podere/report/run_recorder.h"

namespace podere::cli {

/// The same, with what reports and pages call the run: "evaluate model.json on test.csv". `model` is a path; empty:
/// none.
OutputOptions named_run(OutputOptions output, const std::string& command, const std::string& model,
                        const std::string& data);
/// What reports and pages call the run of this process's command.
report::RunTitle title_of(const OutputOptions& output);

/// A file for the report of this process's command, if one is wanted.
class RunReport {
 public:
  /// Throws InputError if it cannot be written there: before the work.
  explicit RunReport(const OutputOptions& output);
  /// Writes it. `facts` are those of the job, with all tasks. Where that fails they get "report_failed", the cause, and
  /// show_result() ends the command with it.
  void write(const report::RunRecorder& recorder, Json& facts);

 private:
  const OutputOptions& output_;
  std::optional<AtomicFile> file_;
};

/// `word` as a shell reads it.
std::string shell_word(const std::string& word);

/// Whether `path` names a document alone, not a page.
bool is_json_report(const std::string& path);

}  // namespace podere::cli
