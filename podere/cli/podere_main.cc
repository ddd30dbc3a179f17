// The program `podere`.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/interrupt.h"
#include "podere/cli/command.h"
#include "podere/cli/completion.h"
#include "podere/cli/group.h"
#include "podere/cli/help.h"
#include "podere/cli/other_names.h"
#include "podere/cli/print.h"
#include "podere/cli/unknown_command.h"

namespace podere::cli {
namespace {

void add_commands(CLI::App& app, Command& chosen) {
  app.formatter(help_formatter());  // before commands, which inherit it
  app.set_help_flag("-h,--help", "Print this help");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("podere ") + PODERE_VERSION, "Print the version");
  app.footer("Example: podere train gbt collider:1e5 -o model.json && podere evaluate model.json collider:1e4?seed=1");
  add_generate(app, chosen);
  add_describe(app, chosen);
  add_svd(app, chosen);
  add_covariance(app, chosen);
  add_qr(app, chosen);
  add_train(app, chosen);
  add_tune(app, chosen);
  add_study(app, chosen);
  add_predict(app, chosen);
  add_classify(app, chosen);
  add_evaluate(app, chosen);
  add_explain(app, chosen);
  add_model(app, chosen);
  add_report(app, chosen);
  add_scale(app, chosen);
  add_convert(app, chosen);
  add_session(app, chosen);
  add_farm(app, chosen);
  add_operator(app, chosen);
  add_doctor(app, chosen);
  add_completion(app, chosen);
  add_manual(app, chosen);
  add_executor(app, chosen);
  add_decode(app, chosen);
  add_network(app, chosen);
}

int parse_and_run(int argc, char** argv) {
  CLI::App app("Podere trains and uses machine-learning models on several executors.", "podere");
  Command chosen;
  add_commands(app, chosen);
  std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words[0] == "complete") {  // what shells ask
    print(completions(app, {words.begin() + 1, words.end()}));
    return kDone;
  }
  words = in_own_names(std::move(words));
  if (words == std::vector<std::string>{"names", "--help"}) {  // podere help names
    print(other_names_text());
    return kDone;
  }
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) {
      std::string advice = unknown_command(app, words);
      if (advice.empty()) advice = unexpected_words(app);
      throw_input_error("{} ({} --help shows what there is)", advice.empty() ? error.what() : advice,
                        command_asked_for(app));
    }
    std::ostringstream text;  // of --help, --version
    app.exit(error, text);
    print(text.str());
    return kDone;
  }
  return chosen();
}

/// All ways to fail end here, as one line and an exit code.
int run(int argc, char** argv) {
  try {
    return parse_and_run(argc, argv);
  } catch (const Interrupted&) {
    print_error("interrupted, nothing was written");
    return kInterrupted;
  } catch (const Submitted&) {
    return kDone;
  } catch (const InputError& error) {
    print_error(error.what());
    return kInputFault;
  } catch (const std::bad_alloc&) {
    print_error("there is not enough memory");
    return kOurFault;
  } catch (const nlohmann::json::exception& error) {  // files are checked where they are read
    const std::string_view what = error.what();       // "[json.exception.type_error.302] type must be ..."
    print_error(fmt::format("the executors answered something else than the protocol has: {}",
                            what.substr(std::min(what.find("] ") + 2, what.size()))));
    return kOurFault;
  } catch (const std::exception& error) {
    print_error(error.what());
    return kOurFault;
  }
}

/// Where a standard stream is closed the next file to be opened would take its place, and its text.
void open_standard_streams() {
  while (true) {
    const int descriptor = open("/dev/null", O_RDWR);
    if (descriptor > STDERR_FILENO || descriptor < 0) {
      close(descriptor);
      return;
    }
  }
}

}  // namespace
}  // namespace podere::cli

int main(int argc, char** argv) {
  podere::cli::open_standard_streams();
  // A closed pipe and a full disk are reported by the calls that write.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  return podere::cli::run(argc, argv);
}
