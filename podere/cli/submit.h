// Giving this very command to Slurm.
#pragma once

#include <string>
#include <vector>

#include "podere/cli/arguments.h"

namespace podere::cli {

/// The words of this process's command, the program first.
std::vector<std::string> own_command_line();

/// Throws InputError for options of Slurm where Slurm is not to be used.
void check_slurm_options(const GroupOptions& group);

/// The arguments of the command that is to run in the batch job: those of this one, without the options of submitting,
/// to start executors in the allocation.
std::vector<std::string> submitted_arguments(const std::vector<std::string>& arguments);

/// Writes a batch script for this process's command into the working folder, gives it to sbatch and says the id of the
/// job. Throws InputError as launch::submit, and leaves no script then.
void submit_this_command(const GroupOptions& group, const OutputOptions& output);

}  // namespace podere::cli
