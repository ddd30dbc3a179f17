// podere man: the manual page of a command, from what --help shows.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "podere/base/atomic_file.h"
#include "podere/base/error.h"
#include "podere/cli/arguments.h"
#include "podere/cli/help.h"
#include "podere/cli/print.h"

namespace podere::cli {
namespace {

/// Text that roff takes as it is, also at the beginning of a line.
std::string plain(const std::string& text) {
  std::string roff;
  for (const char c : text) {
    if (c == '\\') {
      roff += "\\e";
    } else if (c == '-') {
      roff += "\\-";
    } else if (c == '\'') {
      roff += "\\(aq";
    } else if (c == '^' || c == '~') {
      roff += c == '^' ? "\\(ha" : "\\(ti";
    } else {
      roff += c;
    }
  }
  return (roff.starts_with('.') ? "\\&" : "") + roff;
}

std::string bold(const std::string& text) { return "\\fB" + plain(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + plain(text) + "\\fR"; }

/// "podere-train-gbt"
std::string page_name(const CLI::App& app) {
  std::string name = path_of(app);
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string option_text(const CLI::Option& option) {
  std::string names;
  for (const std::string& name : names_of_option(option)) names += (names.empty() ? "" : ", ") + bold(name);
  const std::string type = option.get_type_size() == 0 ? "" : option.get_type_name();
  return fmt::format(".TP\n{}{}{}\n{}\n", names, type.empty() ? "" : " " + italic(type),
                     option.get_required() ? " (required)" : "", plain(option.get_description()));
}

/// Lines such as "On Slurm: podere train gbt ...".
std::string examples_text(const std::string& footer) {
  std::string text;
  for (const std::string& line : CLI::detail::split(footer, '\n')) {
    const auto colon = line.find(": ");
    if (colon == std::string::npos) continue;
    const std::string title = line.substr(0, colon);
    text +=
        fmt::format(".PP\n{}{}\n", title == "Example" ? "" : plain(title) + ":\n.br\n", bold(line.substr(colon + 2)));
  }
  return text.empty() ? "" : ".SH EXAMPLES\n" + text;
}

std::string page_of(const CLI::App& app) {
  std::string name = page_name(app);
  std::string title = name;
  std::ranges::transform(title, title.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string usage = bold(path_of(app)) + " [\\fIOPTIONS\\fR]";
  for (const CLI::Option* argument : positionals(app)) usage += " " + italic(argument->get_name(true));
  const std::vector<const CLI::App*> commands = visible_commands(app);
  if (!commands.empty()) usage += " \\fICOMMAND\\fR ...";
  std::string text = fmt::format(".TH {} 1 \"\" \"Podere {}\" \"Podere manual\"\n.nh\n.ad l\n.SH NAME\n{} \\- {}\n",
                                 plain(title), PODERE_VERSION, plain(name), plain(app.get_description()));
  text += ".SH SYNOPSIS\n" + usage + "\n";
  if (!positionals(app).empty()) text += ".SH ARGUMENTS\n";
  for (const CLI::Option* argument : positionals(app)) {
    text += fmt::format(".TP\n{}\n{}\n", italic(argument->get_name(true)), plain(argument->get_description()));
  }
  if (!commands.empty()) text += ".SH COMMANDS\n";
  for (const CLI::App* command : commands) {
    text += fmt::format(".TP\n{}(1)\n{}\n", bold(page_name(*command)), plain(command->get_description()));
  }
  text += ".SH OPTIONS\n";
  const std::vector<std::string> groups = groups_of(app);
  for (const std::string& group : groups) {
    if (groups.size() > 1) text += ".SS " + title_of(group, groups) + "\n";
    for (const CLI::Option* option : options_in(app, group)) text += option_text(*option);
  }
  text += examples_text(app.get_footer());
  text +=
      ".SH EXIT STATUS\n0 if all is done, 2 for a mistake in the command or its data, 1 for another failure, 130 after "
      "Ctrl\\-C.\n";
  if (app.get_parent() != nullptr) text += ".SH SEE ALSO\n" + bold(page_name(*app.get_parent())) + "(1)\n";
  return text;
}

void write_pages(const CLI::App& app, const std::filesystem::path& folder) {
  AtomicFile file(folder / (page_name(app) + ".1"));
  file.write(page_of(app));
  file.commit();
  for (const CLI::App* command : visible_commands(app)) write_pages(*command, folder);
}

struct ManualOptions {
  std::vector<std::string> command;
  std::string folder;
};

}  // namespace

void add_manual(CLI::App& app, Command& chosen) {
  const auto run = [&app](const ManualOptions& options) {
    const CLI::App* at = &app;
    for (const std::string& name : options.command) {
      const auto commands = visible_commands(*at);
      const auto found = std::ranges::find(commands, name, [](const CLI::App* c) { return c->get_name(); });
      if (found == commands.end()) throw_input_error("{} has no command '{}'", path_of(*at), name);
      at = *found;
    }
    if (options.folder.empty()) {
      print(page_of(*at));
    } else {
      std::error_code error;
      std::filesystem::create_directories(options.folder, error);
      if (error) throw_input_error("--all: {}: {}", options.folder, error.message());
      write_pages(*at, options.folder);
    }
    return kDone;
  };
  add_command<ManualOptions>(
      app, chosen, "man", "Print the manual page of a command, for man -l",
      [](CLI::App& command, ManualOptions& options) {
        command.add_option("COMMAND", options.command, "Which command, such as train gbt [podere itself]")
            ->type_name("");
        command.add_option("--all", options.folder, "Write its page and those of its commands into this folder")
            ->check(file_name())
            ->type_name("FOLDER");
        command.footer("Example: podere man train gbt | man -l -");
      },
      run)
      ->group(kHidden);
}

}  // namespace podere::cli
