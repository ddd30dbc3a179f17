#include "podere/scaling/program.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "podere/base/error.h"
#include "podere/base/interrupt.h"
#include "podere/base/subprocess.h"

namespace podere::scaling {
namespace {

// As podere/README.md has it of all commands.
constexpr int kDone = 0;
constexpr int kInputFault = 2;

std::string without_name(const std::string& line) {
  constexpr std::string_view kName = "podere: ";
  return line.starts_with(kName) ? line.substr(kName.size()) : line;
}

struct Ended {
  int code;
  std::string output;      // its last line
  std::string last_error;  // likewise
};

Ended run_to_its_end(const Words& words) {
  std::vector<std::string> argv = {std::filesystem::read_symlink("/proc/self/exe").string()};
  argv.insert(argv.end(), words.begin(), words.end());
  Subprocess process({argv});
  process.close_input();
  Ended ended;
  while (!process.streams_ended()) {
    if (interrupts() > 0) {
      process.terminate();
      throw Interrupted{};
    }
    const auto line = process.next_line(100);
    if (!line) continue;
    (line->stream == Subprocess::Stream::kOutput ? ended.output : ended.last_error) = line->text;
  }
  std::optional<int> code;
  while (!(code = process.wait(1000))) continue;
  ended.code = *code;
  return ended;
}

}  // namespace

Json run_this_program(const Words& words) {
  const Ended ended = run_to_its_end(words);
  if (ended.code == kInputFault) throw_input_error("{}", without_name(ended.last_error));
  Json result = Json::parse(ended.output, nullptr, false);
  if (ended.code != kDone || !result.is_object()) {
    throw_error("the command ended with {}: {}", ended.code, without_name(ended.last_error));
  }
  return result;
}

}  // namespace podere::scaling
