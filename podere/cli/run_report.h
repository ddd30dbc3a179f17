// The report of a command that runs a job: what --report writes.
#pragma once

#include <optional>
#include <string>

#include "podere/base/atomic_file.h"
#include "podere/cli/arguments.h"
#include "podere/report/live_runs.h"
#include "podere/report/run_recorder.h"

namespace podere::cli {

/// "--report", for commands whose job makes facts for one.
void add_report_option(CLI::App& app, OutputOptions& options);

/// What reports and pages call the run of this process's command.
report::RunTitle title_of(const OutputOptions& output);

/// A file for the report of this process's command, if one is wanted.
class RunReport {
 public:
  /// Throws InputError if it cannot be written there: before the work.
  explicit RunReport(const OutputOptions& output);
  /// Writes it. `facts` are those of the job, with all tasks.
  void write(const report::RunRecorder& recorder, const Json& facts);

 private:
  const OutputOptions& output_;
  std::optional<AtomicFile> file_;
};

/// `word` as a shell reads it.
std::string shell_word(const std::string& word);

/// Whether `path` names a document alone, not a page.
bool is_json_report(const std::string& path);

}  // namespace podere::cli
