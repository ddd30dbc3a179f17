// Where executors are started: this machine, hosts, an allocation of Slurm, the pods of a farm.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/progress.h"
#include "podere/base/subprocess.h"

namespace podere::launch {

/// A number of executors, and the least number with which the work continues when some are lost.
struct Wanted {
  int n_executors = 1;
  int least = 1;
  int request = 0;  ///< how often it was asked for: as many as before are asked for again after a loss
  int moves = 0;    ///< how often executors were to leave the place where they run
  bool operator==(const Wanted&) const = default;
};

/// Fewer executors than were to start can be had: another group, of fewer, may start.
class TooFew : public Error {
 public:
  TooFew(const std::string& whom, const std::string& cause) : Error(whom + " lost: " + cause), who(whom), how(cause) {}
  std::string who;  ///< "an executor"
  std::string how;  ///< "farm astro has 2 that answer"
};

/// A place in which groups of executors are started, one after the other. Not thread-safe.
class Launcher {
 public:
  virtual ~Launcher() = default;

  /// The command that starts a group of so many. Throws TooFew, and InputError or Error for more than there can be.
  virtual CommandLine command(int n_executors) = 0;
  /// How many there is room for, asked after a loss, perhaps of a host, and where another number is wanted. Unset: for
  /// as many as are wanted.
  virtual std::optional<int> room() { return std::nullopt; }
  /// How many are wanted now, if the place knows; asked a few times a second.
  virtual std::optional<Wanted> wanted() { return std::nullopt; }
  /// Whether room may have to be waited for: then await_room is called before each start.
  virtual bool makes_wait() const { return false; }
  /// Waits until there is room for enough executors, or, before the first start, for as many as there will be; says by
  /// progress.warn() what it waits for, and throws Interrupted when progress.stop_requested().
  virtual void await_room(Progress& /*progress*/) {}
  /// What to do about processes that did not become one group. Empty: nothing is known.
  virtual std::string advice() const { return {}; }
};

/// What a user chose about where executors run, and what they are.
struct Place {
  Wanted wanted;
  int cores = 0;                     ///< of each; 0: an even share of its host's
  std::string hosts = {};            ///< file of hosts
  std::string ssh = "ssh";           ///< the command that reaches them
  bool on_slurm = false;             ///< in the allocation of this process
  std::string slurm_options = {};    ///< more options of srun
  std::string farm = {};             ///< on Kubernetes: "name" or "namespace/name"
  std::vector<std::string> program;  ///< what an executor runs: a path and its arguments
  std::filesystem::path folder;      ///< on this machine, outlives the launcher: for what MPI and ssh need
};

/// The launcher that `place` asks for. Throws InputError for what cannot be so.
std::unique_ptr<Launcher> make_launcher(const Place& place);

}  // namespace podere::launch
