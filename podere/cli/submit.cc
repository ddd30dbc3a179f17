#include "podere/cli/submit.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "podere/base/error.h"
#include "podere/cli/print.h"
#include "podere/launch/slurm.h"

namespace podere::cli {
namespace {

/// A new file podere-train-XXXXXX.sbatch in the working folder.
std::filesystem::path write_script(const launch::BatchJob& job) {
  constexpr std::string_view kEnding = ".sbatch";
  const std::string script = launch::batch_script(job);
  std::string name = fmt::format("{}-XXXXXX{}", job.name, kEnding);
  const int descriptor = mkostemps(name.data(), static_cast<int>(kEnding.size()), O_CLOEXEC);
  if (descriptor < 0) throw_input_error("--submit: {}: {}", name, std::strerror(errno));
  close(descriptor);
  std::ofstream file(name);
  file << script;
  if (file.close(); !file) {
    const std::string cause = std::strerror(errno);
    std::filesystem::remove(name);
    throw_input_error("--submit: {}: {}", name, cause);
  }
  return std::filesystem::absolute(name);
}

}  // namespace

std::vector<std::string> own_command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < text.size(); begin = text.find('\0', begin) + 1) {
    words.emplace_back(text.c_str() + begin);
  }
  return words;
}

void check_slurm_options(const GroupOptions& group) {
  if (group.slurm_options.empty() || group.on_slurm || group.submit) return;
  throw_input_error("--slurm-options: needs --on slurm or --submit");
}

std::vector<std::string> submitted_arguments(const std::vector<std::string>& arguments) {
  constexpr std::array<std::string_view, 3> kWithValue = {"--on", "--time", "--slurm-options"};
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view name = std::string_view(arguments[i]).substr(0, arguments[i].find('='));
    if (name == "--submit") continue;
    if (std::ranges::find(kWithValue, name) == kWithValue.end()) {
      kept.push_back(arguments[i]);
    } else if (name.size() == arguments[i].size()) {
      ++i;  // its value is the next
    }
  }
  // What follows a "--" is no option.
  kept.insert(std::ranges::find(kept, "--"), {"--on", "slurm"});
  return kept;
}

void submit_this_command(const GroupOptions& group, const OutputOptions& output) {
  std::vector<std::string> command = own_command_line();
  const std::string name = "podere-" + (command.size() > 1 ? command[1] : "job");
  command.at(0) = std::filesystem::read_symlink("/proc/self/exe").string();
  const auto script = write_script({.name = name,
                                    .n_executors = group.executors,
                                    .cores = group.cores_each(),
                                    .time = group.time,
                                    .options = group.slurm_options,
                                    .command = submitted_arguments(command)});
  std::string id;
  try {
    id = launch::submit(script.string());
  } catch (...) {
    std::filesystem::remove(script);
    throw;
  }
  const auto log = std::filesystem::absolute(fmt::format("{}-{}.log", name, id));
  if (output.json) {
    print_json({{"job", id}, {"script", script.string()}, {"log", log.string()}});
  } else {
    print(facts_text({{"job", id}, {"script", script.string()}, {"log", log.string()}}));
  }
}

}  // namespace podere::cli
