// podere doctor: what this machine offers, and what is missing.
#include <fmt/core.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/Version.hpp>
#include <filesystem>

#include "podere/base/atomic_file.h"
#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/base/json.h"
#include "podere/base/machine.h"
#include "podere/base/subprocess.h"
#include "podere/cli/arguments.h"
#include "podere/cli/group.h"
#include "podere/cli/job_progress.h"
#include "podere/cli/print.h"
#include "podere/launch/local.h"

namespace podere::cli {
namespace {

constexpr int kPatienceMs = 10'000;

/// One thing looked at. `advice` says how to fix what is wrong; empty if nothing is.
struct Finding {
  std::string name;
  std::string found;
  std::string advice = {};
};

Finding find_mpi() {
  try {
    const std::string path = launch::find_mpirun();
    Subprocess mpirun({{path, "--version"}});
    const auto line = mpirun.next_line(kPatienceMs);
    if (!line || line->text.find("Open MPI") == std::string::npos) {
      return {"MPI", path, "this mpirun is not Open MPI: apt install openmpi-bin, and put it first in PATH"};
    }
    return {"MPI", fmt::format("{}, {}", line->text, path)};
  } catch (const Error& error) {
    return {"MPI", "not found", error.what()};
  }
}

Finding start_two_executors(const OutputOptions& output) {
  try {
    const Stopwatch watch;
    JobProgress progress(JobProgress::Style::kNone);
    const TemporaryFolder folder(launch::temporary_folder());
    session::Session(session_options({.executors = 2, .cores = 1}, output, folder), progress).end();
    return {"2 executors", fmt::format("started and ended in {:.2f} s", watch.seconds())};
  } catch (const Error& error) {
    return {"2 executors", "do not start", error.what()};
  }
}

Finding find_cores(const Machine& machine) {
  const std::string quota = machine.limits.cores ? fmt::format(", quota {:.2f}", *machine.limits.cores) : ", no quota";
  return {"cores", fmt::format("{} usable (affinity {}{}), {}", machine.usable_cores(), machine.affinity_cores, quota,
                               machine.cpu)};
}

Finding find_memory(const Machine& machine) {
  const auto& limit = machine.limits.memory_bytes;
  return {"memory", fmt::format("{}{}", megabytes(machine.memory_bytes),
                                limit ? ", limited to " + megabytes(*limit) : ", no limit")};
}

Finding find_simd(const Machine& machine) {
  std::string names;
  for (const auto& name : machine.simd) names += (names.empty() ? "" : ", ") + name;
  return {"SIMD", names.empty() ? "none of AVX2, AVX-512, NEON (slower, with the same results)" : names};
}

Finding find_temporary_folder() {
  try {
    const auto folder = std::filesystem::temp_directory_path();
    AtomicFile(folder / fmt::format("podere-doctor-{}", getpid())).write("x");
    return {"temporary folder", folder.string() + ", writable"};
  } catch (const std::exception& error) {
    return {"temporary folder", "not writable", fmt::format("{}; set TMPDIR to a folder with room", error.what())};
  }
}

std::string versions() {
  return fmt::format("podere {}, fmt {}.{}.{}, nlohmann-json {}.{}.{}, CLI11 {}, compiler {}", PODERE_VERSION,
                     FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100, NLOHMANN_JSON_VERSION_MAJOR,
                     NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH, CLI11_VERSION, __VERSION__);
}

int run_doctor(const OutputOptions& options) {
  const Machine machine = this_machine();
  const std::vector<Finding> findings = {
      find_mpi(),         start_two_executors(options), find_cores(machine),     find_memory(machine),
      find_simd(machine), find_temporary_folder(),      {"versions", versions()}};
  const bool is_well = std::ranges::all_of(findings, [](const Finding& finding) { return finding.advice.empty(); });
  if (options.json) {
    Json json = {{"ok", is_well}, {"findings", Json::array()}};
    for (const auto& [name, found, advice] : findings) {
      json["findings"].push_back({{"name", name}, {"ok", advice.empty()}, {"found", found}, {"advice", advice}});
    }
    print_json(json);
  } else {
    TextTable table({}, true);
    for (const auto& [name, found, advice] : findings) {
      table.add({advice.empty() ? "ok" : "!!", name, found});
      if (!advice.empty()) table.add({"", "", advice});
    }
    print(table.text());
  }
  return is_well ? kDone : kOurFault;
}

}  // namespace

void add_doctor(CLI::App& app, Command& chosen) {
  add_command<OutputOptions>(
      app, chosen, "doctor", "Check this machine: MPI, cores, memory, SIMD, versions",
      [](CLI::App& command, OutputOptions& options) {
        add_output_options(command, options);
        command.footer("Example: podere doctor");
      },
      run_doctor);
}

}  // namespace podere::cli
