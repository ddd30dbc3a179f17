// What a command writes: files, and how it went.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "podere/cli/arguments.h"
#include "podere/jobs/job.h"

namespace podere::cli {

/// A file as the command line names it: {"--plot", "roc.svg"}. An empty path stands for none.
struct NamedFile {
  std::string argument;
  std::string path;
};
/// The file of a table; none for events, which are no file.
NamedFile named_file(const std::string& argument, const source::SourceSpec& source);
/// The file of its labels, if they have one, as `argument` would name it.
NamedFile labels_file(const std::string& argument, const source::SourceSpec& source);

/// Throws InputError for an output that is an input or another output, by whatever names and links: it would be lost.
/// Devices such as /dev/null take several.
void check_outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs);
/// The same for all files that the rows are made of, such as pictures and the network that sees them.
void check_outputs(const std::vector<NamedFile>& outputs, const source::SourceSpec& source);
/// The same for the files `paths` of `location`.
void check_outputs(const std::vector<NamedFile>& outputs, const std::string& location,
                   const std::vector<std::string>& paths);

/// Where a command says how it went: the descriptor of standard output, or of standard error where one of the outputs
/// takes standard output. To be called before they are written.
int facts_descriptor(const std::vector<NamedFile>& outputs);

/// All that comes before a command that can be interrupted opens its outputs: check_outputs and count_interrupts.
/// Returns facts_descriptor.
int prepare_outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs);

/// Says how a job went, as `output` wants it: its result as JSON, or what was decided about the files that it read,
/// whatever `print_text` prints and what it cost. Then warns of categories that the model did not know, and of
/// waiting that took most of the time.
void show_result(const OutputOptions& output, const Json& result, int descriptor,
                 const std::function<void()>& print_text);

}  // namespace podere::cli
