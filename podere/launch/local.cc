#include "podere/launch/local.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "podere/base/error.h"
#include "podere/base/machine.h"

namespace podere::launch {
namespace {

constexpr off_t kSessionBytes = 10'000'000;  // two segments of 4 MiB that hold the keys of PMIx, and small files

// Measured with Open MPI 4.1: mpirun hangs below 28 + 4 an executor; one executor alone needs 16.
constexpr rlim_t kOpenFiles = 32;
constexpr rlim_t kOpenFilesOfMpirun = 64;
constexpr rlim_t kOpenFilesEach = 4;

// Executors in turns on a core show how work is shared; hundreds are a mistake, for which memory does not last.
constexpr int kMostExecutorsPerCore = 16;
constexpr int kMostExecutorsHere = 64;  // of few cores

}  // namespace

CommandLine local(int n_executors, const std::vector<std::string>& program, const std::filesystem::path& folder) {
  if (n_executors < 1) throw_input_error("{} executors: at least 1 is needed", n_executors);
  CommandLine command{
      .argv = program,
      .environment =
          {
              // One machine: no look for networks, and for a single executor no helper process. Starting takes 0.15 s
              // instead of 0.5 s.
              {"OMPI_MCA_pml", "ob1"},
              {"OMPI_MCA_btl", "self,vader"},
              {"OMPI_MCA_ess_singleton_isolated", "1"},
              // Reading another process's memory is forbidden in most containers.
              {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"},
              {"OMPI_MCA_orte_tmpdir_base", folder.string()},
          },
      // Podere may itself run inside a job of mpirun or Slurm, which is not the one to start here.
      .without = {"OMPI_", "ORTE_", "PMIX_", "PMI_", "SLURM_"},
  };
  if (n_executors == 1) return command;

  const std::vector<std::string> mpirun = {"mpirun", "-n", std::to_string(n_executors)};
  command.argv.insert(command.argv.begin(), mpirun.begin(), mpirun.end());
  command.environment.insert(command.environment.end(),
                             {
                                 // Executors share the cores: none is bound to one, and who waits sleeps
                                 // (comm/patience.h), for who yields gives a whole slice to a busy neighbor.
                                 {"OMPI_MCA_mpi_yield_when_idle", "0"},
                                 {"OMPI_MCA_hwloc_base_binding_policy", "none"},
                                 {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                                 {"OMPI_MCA_plm", "isolated"},
                                 // Facts of the job are not kept in shared memory: an executor that is killed while it
                                 // reads them there leaves its lock to mpirun, which then never ends.
                                 {"PMIX_MCA_gds", "hash"},
                                 {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                 {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                             });
  return command;
}

namespace {

int most_executors_here(int usable_cores) { return std::max(kMostExecutorsHere, kMostExecutorsPerCore * usable_cores); }

class LocalLauncher final : public Launcher {
 public:
  explicit LocalLauncher(const Place& place)
      : program_(place.program), folder_(place.folder), room_(most_executors_here(this_machine().usable_cores())) {
    const int n_executors = place.wanted.n_executors;
    if (n_executors > room_) {
      throw_input_error(
          "{} executors are too many for this machine of {} usable cores: allowed are up to {}, more on hosts "
          "(--hosts), Slurm or Kubernetes (--on)",
          n_executors, this_machine().usable_cores(), room_);
    }
    if (n_executors > 1) find_mpirun();
    check_open_files(n_executors);
    check_session_folder(folder_, n_executors);
  }
  CommandLine command(int n_executors) override { return local(n_executors, program_, folder_); }
  std::optional<int> room() override { return room_; }

 private:
  const std::vector<std::string> program_;
  const std::filesystem::path folder_;
  const int room_;
};

}  // namespace

std::unique_ptr<Launcher> local_launcher(const Place& place) { return std::make_unique<LocalLauncher>(place); }

std::filesystem::path temporary_folder() {
  for (const char* name : {"TMPDIR", "TEMP", "TMP"}) {
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') return value;
  }
  return "/tmp";
}

void check_session_folder(const std::filesystem::path& folder, int n_executors) {
  std::string name = (folder / "podere-room-XXXXXX").string();
  const int descriptor = mkostemp(name.data(), O_CLOEXEC);
  int cause = descriptor < 0 ? errno : 0;
  if (descriptor >= 0) {
    unlink(name.c_str());
    if (n_executors > 1) cause = posix_fallocate(descriptor, 0, kSessionBytes);
    close(descriptor);
  }
  if (cause == 0 || cause == EINTR) return;
  throw_input_error("temporary folder {}: {}: MPI needs up to {} MB there, set TMPDIR to a folder with room",
                    folder.string(), std::strerror(cause), kSessionBytes / 1'000'000);
}

void check_open_files(int n_executors) {
  const auto n = static_cast<rlim_t>(n_executors);
  const rlim_t needed = n == 1 ? kOpenFiles : kOpenFilesOfMpirun + n * kOpenFilesEach;
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return;
  const rlim_t allowed = limit.rlim_cur;
  limit.rlim_cur = needed;
  if (needed <= limit.rlim_max && setrlimit(RLIMIT_NOFILE, &limit) == 0) return;
  throw_input_error(
      "a process may open {} files here (ulimit -n), {} executor{} need {}: raise the limit with ulimit -n {}, which "
      "above "
      "the hard limit ({}) is for root",
      allowed, n, n == 1 ? "" : "s", needed, needed, limit.rlim_max);
}

std::string find_mpirun() {
  if (const auto path = find_program("mpirun")) return *path;
  throw_input_error(
      "mpirun was not found in PATH: more than one executor needs Open MPI (Debian and Ubuntu: apt install "
      "openmpi-bin); --executors 1 works without it");
}

}  // namespace podere::launch
