// Starting executors with Slurm.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "podere/base/subprocess.h"
#include "podere/launch/launcher.h"

namespace podere::launch {

/// What to say to those whose srun does not make one group of the processes that it starts.
extern const char* const kSrunAdvice;

/// The command that runs `program` as a group of `n_executors` tasks of `cores` each within this process's allocation:
/// one srun, with `options` of the user. Pure. Throws InputError for fewer than 1.
CommandLine in_allocation(int n_executors, int cores, const std::vector<std::string>& program,
                          const std::string& options);

/// Throws InputError that says what to do if this process is not within an allocation, or there is no srun.
void check_allocation();

/// In this process's allocation. Throws InputError as check_allocation.
std::unique_ptr<Launcher> slurm_launcher(const Place& place);

/// Cores that the allocation has for each task, 1 if it does not say.
int cores_per_task();

struct BatchJob {
  std::string name;
  int n_executors = 1;
  int cores = 1;
  std::string time;     ///< as Slurm writes limits; empty: the partition's
  std::string options;  ///< more options of sbatch
  std::vector<std::string> command;
};

/// A script for sbatch that runs the command in the folder in which it is submitted. Pure. Throws InputError
/// for options that would be something else in a script.
std::string batch_script(const BatchJob& job);

/// Has sbatch take the script `path`. Returns the id of the job. Throws InputError with the words of sbatch if it
/// does not, or says nothing for a minute.
std::string submit(const std::string& path);

}  // namespace podere::launch
