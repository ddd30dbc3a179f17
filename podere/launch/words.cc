#include "podere/launch/words.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <regex>

#include "podere/base/error.h"

namespace podere::launch {
namespace {

/// No cause of anything: that ssh began before mpirun had put it into a group of processes.
bool is_aside(const std::string& line) { return line.find("plm:rsh: Warning: setpgid(") != std::string::npos; }

bool has_words(const std::string& line) {
  return line.find_first_not_of(" -\t\r") != std::string::npos && !is_aside(line);
}

/// Without space around it; ssh ends lines as terminals do.
std::string trimmed(const std::string& line) {
  const auto begin = line.find_first_not_of(" \t\r");
  return begin == std::string::npos ? "" : line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
}

std::string by_signal(int number) { return fmt::format("killed by signal {}", number); }

/// The number of a signal as srun calls it ("Killed", "Segmentation fault (core dumped)"); 0 if it is none.
int signal_called(const std::string& words) {
  for (int number = 1; number < NSIG; ++number) {
    const char* name = sigdescr_np(number);
    if (name != nullptr && words.starts_with(name)) return number;
  }
  return 0;
}

/// "srun: error: node7: task 3: Killed". A list of tasks was killed in the aftermath, or the first is as good as any.
std::optional<Loss> loss_of_srun(const std::string& line) {
  static const std::regex task("^srun: error: (\\S+): tasks? ([0-9]+)[-0-9,]*: (.*)$");
  static const std::regex node("^srun: error: Node failure on (\\S+)");
  std::smatch match;
  if (std::regex_search(line, match, node)) return Loss{"host " + match[1].str(), "node failure"};
  if (!std::regex_match(line, match, task)) return std::nullopt;
  const int number = signal_called(match[3]);
  // SIGTERM is how srun ends those that are left.
  if (number == 0 || number == SIGTERM) return std::nullopt;
  return Loss{"executor " + match[2].str(), by_signal(number)};
}

std::optional<Loss> loss_of_mpirun(const std::string& line) {
  static const std::regex rank("process rank ([0-9]+) .*exited on signal ([0-9]+)");
  static const std::regex daemon("Remote daemon: .* on node (\\S+)");
  std::smatch match;
  if (std::regex_search(line, match, rank)) {
    return Loss{"executor " + match[1].str(), by_signal(std::stoi(match[2]))};
  }
  if (std::regex_search(line, match, daemon)) return Loss{"host " + match[1].str(), "it does not answer"};
  return std::nullopt;
}

}  // namespace

std::optional<Loss> find_loss(const std::deque<std::string>& lines) {
  for (const std::string& line : lines) {
    if (auto loss = loss_of_mpirun(line)) return loss;
    if (auto loss = loss_of_srun(line)) return loss;
  }
  return std::nullopt;
}

bool reports_the_end(const std::string& line) {
  constexpr std::array<const char*, 3> kBeginnings = {"mpirun noticed that", "mpirun detected that",
                                                      "ORTE has lost communication"};
  return std::ranges::any_of(kBeginnings, [&](const char* beginning) { return line.starts_with(beginning); });
}

bool reports_a_silent_end(const std::deque<std::string>& lines) {
  // Which executor was killed it reports at its own end, which it does not always reach in order.
  return first_words(lines).starts_with("Primary job  terminated normally");
}

bool reports_no_group(const std::deque<std::string>& lines) {
  return std::ranges::any_of(lines, [](const std::string& line) {
    return line.starts_with("The application appears to have been direct launched using \"srun\"");
  });
}

std::string first_words(const std::deque<std::string>& lines) {
  auto line = std::ranges::find_if(lines, has_words);
  if (line == lines.end()) return "";
  const bool is_block = line != lines.begin() && line[-1].starts_with("-----");
  std::string words = trimmed(*line);
  // mpirun breaks its sentences into lines between two rules; what follows a colon belongs to them.
  for (++line; is_block && line != lines.end() && !line->starts_with("-----"); ++line) {
    if (has_words(*line)) {
      words += " " + trimmed(*line);
    } else if (!words.ends_with(':')) {
      break;
    }
  }
  return words;
}

std::string last_words(const std::deque<std::string>& lines) {
  const auto last = std::find_if(lines.rbegin(), lines.rend(), has_words);
  return last == lines.rend() ? "" : trimmed(*last);
}

}  // namespace podere::launch
