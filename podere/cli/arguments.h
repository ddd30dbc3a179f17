// Options that several subcommands share.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "podere/base/enum_names.h"
#include "podere/base/error.h"
#include "podere/cli/command.h"
#include "podere/cli/help.h"
#include "podere/kube/access.h"
#include "podere/source/source.h"

namespace podere::cli {

/// How a command shows what it does.
struct OutputOptions {
  bool json = false;          ///< one JSON object on standard output and nothing else there
  bool debug = false;         ///< also what executors write to standard error
  std::string metrics;        ///< what a job cost: "phases", or "tasks", by executor too; empty: not shown
  std::string report;         ///< file of the report; empty: none
  std::string run_name = {};  ///< as reports and pages have it
  std::string page = {};      ///< address and port of the page that shows the command while it runs; empty: none
};
void add_output_options(CLI::App& app, OutputOptions& options);
/// "--page" and "--page=PORT": a flag, whose value is an address and a port.
CLI::Option* add_page_option(CLI::App& app, std::string& page, const std::string& description);
/// "--metrics", "--report" and "--page", for commands that run jobs.
void add_job_output_options(CLI::App& app, OutputOptions& options);

inline constexpr int kMostCores = 4096;

struct GroupOptions {
  int executors = 1;
  std::string executors_file;  ///< a file with how many are wanted now; empty: nowhere
  int least_executors = 1;     ///< with so many the job continues when others are lost
  int needed_executors = 1;    ///< with fewer the work cannot be done at all, whatever is asked for
  std::string session;         ///< in which to do the work instead; empty: none
  std::optional<int> cores;    ///< of each executor; unset: an even share of the cores that this process may use
  std::string hosts;           ///< file of hosts on which to start them; empty: none
  std::string ssh = "ssh";     ///< how to reach them
  bool on_slurm = false;       ///< start them in the allocation
  bool on_kubernetes = false;  ///< start them in the pods of `farm`
  std::string farm;            ///< "name" or "namespace/name"
  bool submit = false;         ///< have Slurm run this command when it can
  std::string time;            ///< after which Slurm ends it
  std::string slurm_options;
  bool on_this_machine() const { return hosts.empty() && !on_kubernetes && !on_slurm && !submit; }
  /// Of each executor; 0: each takes an even share of its host's.
  int cores_each() const;
  /// A warning where there are far more threads asked for than there are cores to run them; empty if all is well.
  std::string too_many(int usable_cores) const;
};
void add_group_options(CLI::App& app, GroupOptions& options);
/// "4", or "2:8" for at least 2. Throws CLI::ValidationError.
void read_executors(const std::string& text, GroupOptions& options);
/// The arguments that say the same as `options`.
std::vector<std::string> group_arguments(const GroupOptions& options);

/// "--kubeconfig FILE" and "--context NAME".
void add_access_options(CLI::App& app, kube::AccessOptions& options);

/// The positional argument MODEL.
void add_model_argument(CLI::App& app, std::string& path);
/// "--rounds N": how many rounds of the model count; 0: all.
void add_rounds_option(CLI::App& app, std::size_t& n_rounds);

/// The positional argument `name`, and the options that say how to read it.
void add_source_options(CLI::App& app, const std::string& name, source::SourceSpec& source);
/// The same for a command that takes a matrix: without labels, weights and dates, and with a group of their own for
/// those that only text has.
void add_matrix_options(CLI::App& app, const std::string& name, source::SourceSpec& source);

/// "--rows A:B".
void add_rows_option(CLI::App& app, io::RowSelection& rows);
/// "a,b" into the columns a and b. Throws CLI::ValidationError that names `option`.
std::vector<std::string> split_columns(const std::string& option, const std::string& text);

/// "--categorical A,B", for commands without a model that remembers.
void add_categorical_option(CLI::App& app, source::SourceSpec& source);

/// Of whole numbers without a limit of their own.
inline constexpr int kMostWhole = std::numeric_limits<int>::max();

// Checks that say what is allowed. Ranges of real numbers are checked where they are known.
CLI::Validator real_number();
// Those that turn "1e6" into digits, and - into /dev/stdout, are for transform(), not check().
CLI::Validator whole_number(int least, int most);
CLI::Validator count();
CLI::Validator file_name();
/// Of a file that is written: "-" is /dev/stdout.
CLI::Validator output_file();
/// Of a report: FILE.html or FILE.json.
CLI::Validator report_file();
/// Of "[ADDRESS:]PORT". Makes "8080" "127.0.0.1:8080": for transform(), too.
CLI::Validator listening_address();

/// Adds an option for one of a few names of an Enum, which becomes `value`; `usual` is what holds where none is chosen.
template <NamedEnum Enum, typename Value>
CLI::Option* add_choice(CLI::App& app, const char* option, Value& value, const std::string& usual,
                        const std::string& description) {
  return app
      .add_option_function<std::string>(
          option,
          [&value, option](const std::string& text) {
            try {
              value = parse_name<Enum>(text);
            } catch (const InputError& error) {
              const std::string_view behind_name =
                  std::string_view(error.what()).substr(std::string_view(names_of(Enum()).what).size());
              throw CLI::ValidationError(fmt::format("{}{}", option, behind_name));
            }
          },
          fmt::format("{} [{}]", description, usual))
      ->type_name(choices(names_of(Enum()).values));
}
template <NamedEnum Enum>
CLI::Option* add_choice(CLI::App& app, const char* option, Enum& value, const std::string& description) {
  return add_choice<Enum>(app, option, value, std::string(to_string(value)), description);
}

/// Adds a subcommand that runs `run(options)` when chosen. `define(app, options)` adds its options. The options are
/// shared between the parser, which fills them, and the command.
template <typename Options, typename Define, typename Run>
CLI::App* add_command(CLI::App& parent, Command& chosen, const std::string& name, const std::string& description,
                      Define&& define, Run run) {
  CLI::App* app = parent.add_subcommand(name, description);
  auto options = std::make_shared<Options>();
  define(*app, *options);
  app->final_callback([&chosen, options, run] { chosen = [options, run] { return run(*options); }; });
  return app;
}

}  // namespace podere::cli
