#include "podere/launch/slurm.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/base/number.h"

namespace podere::launch {
namespace {

constexpr int kSubmitMs = 60'000;
constexpr int kPollMs = 100;
constexpr int kEndMs = 5000;

void check_one_line(const char* option, const std::string& text) {
  const bool has_control = std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < ' '; });
  if (has_control || (!text.empty() && text.find_first_not_of(' ') == std::string::npos)) {
    throw_input_error("{}: '{}' is not one line of text", option, text);
  }
}

void check_options(const std::string& options) {
  check_one_line("--slurm-options", options);
  if (options.empty() || options[options.find_first_not_of(' ')] == '-') return;
  throw_input_error("--slurm-options: '{}' does not begin with an option such as --partition=NAME", options);
}

/// As a shell reads it back.
std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

/// What sbatch says, as one line without its own name.
std::string joined(const std::vector<std::string>& lines) {
  constexpr std::string_view kName = "sbatch: error: ";
  std::string text;
  for (const std::string& line : lines) {
    text += (text.empty() ? "" : "; ") + (line.starts_with(kName) ? line.substr(kName.size()) : line);
  }
  return text;
}

}  // namespace

const char* const kSrunAdvice =
    "Open MPI needs PMIx of srun (is pmix in `srun --mpi=list`?); without it use --hosts with the nodes of the "
    "allocation";

CommandLine in_allocation(int n_executors, int cores, const std::vector<std::string>& program,
                          const std::string& options) {
  if (n_executors < 1) throw_input_error("{} executors: at least 1 is needed", n_executors);
  check_options(options);
  CommandLine command{
      .argv =
          {
              "srun", "--mpi=pmix", fmt::format("--ntasks={}", n_executors), fmt::format("--cpus-per-task={}", cores),
              "--input=0",             // orders are for rank 0
              "--kill-on-bad-exit=1",  // when one dies all end, as with mpirun
              "--overlap",             // do not wait for another step to end, which may be the one that this runs in
          },
      .environment =
          {
              {"OMPI_MCA_mpi_yield_when_idle", "0"},  // who waits sleeps: comm/patience.h
              // Reading another process's memory is often forbidden.
              {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"},
          },
      // Podere may itself run inside a step, whose group and binding are not those of the one to start here.
      .without = {"OMPI_COMM_", "OMPI_UNIVERSE", "OMPI_MCA_ess", "OMPI_MCA_orte_", "OMPI_MCA_pmix", "ORTE_", "PMIX_",
                  "PMI_", "SLURM_CPU_BIND"},
  };
  std::istringstream stream(options);
  for (std::string word; stream >> word;) command.argv.push_back(word);
  command.argv.insert(command.argv.end(), program.begin(), program.end());
  return command;
}

void check_allocation() {
  if (std::getenv("SLURM_JOB_ID") == nullptr) {
    throw_input_error(
        "--on slurm: this is not inside an allocation (SLURM_JOB_ID is not set): use it in salloc or a batch script, "
        "or "
        "--submit, which writes one");
  }
  if (!find_program("srun")) throw_input_error("--on slurm: srun was not found in PATH");
}

int cores_per_task() {
  const char* text = std::getenv("SLURM_CPUS_PER_TASK");
  const auto cores = text == nullptr ? std::nullopt : parse_count(text);
  return cores && *cores >= 1 && std::in_range<int>(*cores) ? static_cast<int>(*cores) : 1;
}

std::string batch_script(const BatchJob& job) {
  check_options(job.options);
  check_one_line("--time", job.time);
  std::string script = fmt::format(
      "#!/bin/sh\n"
      "#SBATCH --job-name={}\n"
      "#SBATCH --output={}-%j.log\n"
      "#SBATCH --ntasks={}\n"
      "#SBATCH --cpus-per-task={}\n",
      job.name, job.name, job.n_executors, job.cores);
  if (!job.time.empty()) script += fmt::format("#SBATCH --time={}\n", job.time);
  if (!job.options.empty()) script += fmt::format("#SBATCH {}\n", job.options);
  script += "\nexec";
  for (const std::string& word : job.command) script += " " + quoted(word);
  return script + "\n";
}

std::string submit(const std::string& path) {
  if (!find_program("sbatch")) throw_input_error("--submit: sbatch was not found in PATH");
  Subprocess sbatch({{"sbatch", "--parsable", path}});
  std::string id;
  std::vector<std::string> words;
  const Stopwatch watch;
  while (!sbatch.streams_ended()) {
    if (watch.seconds() * 1000 > kSubmitMs) {
      words.push_back(fmt::format("no answer within {} s", kSubmitMs / 1000));
      throw_input_error("--submit: sbatch: {}", joined(words));
    }
    const auto line = sbatch.next_line(kPollMs);
    if (!line) continue;
    if (line->stream == Subprocess::Stream::kOutput) {
      id = line->text.substr(0, line->text.find(';'));  // what follows is the name of the cluster
    } else {
      words.push_back(line->text);
    }
  }
  if (sbatch.wait(kEndMs) == 0 && parse_count(id)) return id;
  throw_input_error("--submit: sbatch: {}", words.empty() ? "it failed without a word" : joined(words));
}

namespace {

class SlurmLauncher final : public Launcher {
 public:
  explicit SlurmLauncher(const Place& place) : place_(place) { check_allocation(); }
  CommandLine command(int n_executors) override {
    return in_allocation(n_executors, place_.cores, place_.program, place_.slurm_options);
  }
  std::string advice() const override { return kSrunAdvice; }

 private:
  const Place place_;
};

}  // namespace

std::unique_ptr<Launcher> slurm_launcher(const Place& place) { return std::make_unique<SlurmLauncher>(place); }

}  // namespace podere::launch
