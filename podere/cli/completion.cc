// podere completion: scripts for shells, which ask the program itself for what may come next.
#include "podere/cli/completion.h"

#include <algorithm>

#include "podere/cli/arguments.h"
#include "podere/cli/command.h"
#include "podere/cli/help.h"
#include "podere/cli/print.h"

namespace podere::cli {
namespace {

constexpr const char* kFiles = ":files\n";

// Bash breaks words at = and : too, so what comes after them is a word of its own.
constexpr const char* kBash = R"(_podere() {
  local IFS=$'\n'
  COMPREPLY=($("${COMP_WORDS[0]}" complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  if [[ ${COMPREPLY[0]} == :files ]]; then
    COMPREPLY=()
    compopt -o default 2>/dev/null
  fi
}
complete -F _podere podere
)";

constexpr const char* kZsh = R"(#compdef podere
_podere() {
  local -a found
  found=("${(@f)$("${words[1]}" complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ ${found[1]} == :files ]]; then
    _files
  else
    compadd -a found
  fi
}
if [[ ${funcstack[1]} == _podere ]]; then
  _podere
else
  compdef _podere podere
fi
)";

constexpr const char* kFish = R"(function __podere_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found ($words[1] complete $words[2..] 2>/dev/null)
  if test "$found[1]" = :files
    __fish_complete_path (commandline -ct)
  else
    printf '%s\n' $found
  end
end
complete -c podere -f -a '(__podere_complete)'
)";

bool has_validator(CLI::Option& option, const std::string& name) {
  try {
    return option.get_validator(name) != nullptr;
  } catch (const CLI::OptionNotFound&) {
    return false;
  }
}

bool is_file(CLI::Option& option) { return has_validator(option, "file_name") || has_validator(option, "output_file"); }

bool takes_value(const CLI::Option& option) { return option.get_items_expected_min() > 0; }

std::string beginning_with(const std::string& prefix, const std::vector<std::string>& names) {
  std::string lines;
  for (const std::string& name : names) {
    if (name.starts_with(prefix)) lines += name + "\n";
  }
  return lines;
}

/// Values of an option. `before` is "--option=" if the shell leaves it in the word.
std::string values_of(CLI::Option& option, const std::string& before, const std::string& prefix) {
  if (is_file(option)) return kFiles;
  const std::string type = option.get_type_name();
  if (type.find('|') == std::string::npos) return "";
  std::vector<std::string> values = CLI::detail::split(type, '|');
  for (std::string& value : values) value.insert(0, before);
  return beginning_with(before + prefix, values);
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> all;
  for (const std::string& group : groups_of(app)) {
    for (const CLI::Option* option : options_in(app, group)) {
      const std::vector<std::string> names = names_of_option(*option);
      all.insert(all.end(), names.begin(), names.end());
    }
  }
  return all;
}

struct CompletionOptions {
  std::string shell;
};

int run_completion(const CompletionOptions& options) {
  print(options.shell == "bash" ? kBash : options.shell == "zsh" ? kZsh : kFish);
  return kDone;
}

}  // namespace

std::string completions(CLI::App& app, std::vector<std::string> words) {
  if (words.empty()) words.emplace_back();
  if (words.size() > 1 && words.front() == "help") words.erase(words.begin());
  std::string word = words.back();
  words.pop_back();

  CLI::App* at = &app;
  for (const std::string& earlier : words) {
    const auto found = at->get_subcommands([&](const CLI::App* command) { return command->get_name() == earlier; });
    if (!found.empty()) at = found.front();
  }
  if (word == "=") {
    word.clear();
  } else if (!words.empty() && words.back() == "=") {
    words.pop_back();
  }
  const auto option_named = [&](const std::string& name) { return at->get_option_no_throw(name); };
  if (!words.empty() && words.back().starts_with('-')) {
    if (CLI::Option* option = option_named(words.back()); option != nullptr && takes_value(*option)) {
      return values_of(*option, "", word);
    }
  }
  if (const auto equals = word.find('='); word.starts_with('-') && equals != std::string::npos) {
    CLI::Option* option = option_named(word.substr(0, equals));
    return option == nullptr ? "" : values_of(*option, word.substr(0, equals + 1), word.substr(equals + 1));
  }
  if (word.starts_with('-')) return beginning_with(word, option_names(*at));
  std::vector<std::string> names;
  for (const CLI::App* command : visible_commands(*at)) names.push_back(command->get_name());
  if (at == &app) names.emplace_back("help");
  if (!names.empty()) return beginning_with(word, names);
  const std::vector<const CLI::Option*> arguments = positionals(*at);
  return arguments.empty() ? "" : values_of(*at->get_option(arguments.back()->get_name(true)), "", word);
}

void add_completion(CLI::App& app, Command& chosen) {
  add_command<CompletionOptions>(
      app, chosen, "completion", "Print a script that completes commands and options in your shell",
      [](CLI::App& command, CompletionOptions& options) {
        command.add_option("SHELL", options.shell, "Your shell")
            ->required()
            ->check(CLI::IsMember({"bash", "zsh", "fish"}).description(""))
            ->type_name("bash|zsh|fish");
        command.footer(
            "Example: source <(podere completion bash)\n"
            "Zsh: podere completion zsh >\"${fpath[1]}/_podere\"\n"
            "Fish: podere completion fish >~/.config/fish/completions/podere.fish");
      },
      run_completion);
}

}  // namespace podere::cli
