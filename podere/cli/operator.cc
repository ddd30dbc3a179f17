// podere operator: carries the farm policy out on a Kubernetes cluster.
#include "podere/controller/operator.h"

#include <fmt/format.h>

#include <mutex>
#include <regex>

#include "podere/base/interrupt.h"
#include "podere/cli/arguments.h"
#include "podere/cli/print.h"
#include "podere/kube/time.h"

namespace podere::cli {
namespace {

struct OperatorArguments {
  kube::AccessOptions access;
  controller::OperatorOptions options;
  bool json = false;
};

/// A line for each, from whatever thread.
class OperatorLog {
 public:
  explicit OperatorLog(bool is_json) : is_json_(is_json) {}

  void write(const std::string& message) {
    const std::string time = kube::to_text(kube::now());
    const std::scoped_lock lock(mutex_);
    is_json_ ? print_json({{"time", time}, {"message", message}}, STDERR_FILENO)
             : print(fmt::format("{} {}\n", time, message), STDERR_FILENO);
  }

 private:
  const bool is_json_;
  std::mutex mutex_;
};

CLI::Validator object_name() {
  return {[](const std::string& text) -> std::string {
            static const std::regex form("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?");
            return std::regex_match(text, form)
                       ? ""
                       : fmt::format("'{}' is no name of an object: a to z, 0 to 9 and -, 63 at most", text);
          },
          "", "name"};
}

void define_operator(CLI::App& app, OperatorArguments& arguments) {
  add_access_options(app, arguments.access);
  app.add_option("--namespace", arguments.access.in_namespace, "Namespace of the lease [the context's, or default]")
      ->check(object_name())
      ->type_name("NAME");
  app.add_option("--lease", arguments.options.lease,
                 "Name of the lease: of the operators that share it one works, the others wait [podere-operator]")
      ->check(object_name())
      ->type_name("NAME");
  app.add_option("--lease-seconds", arguments.options.lease_seconds,
                 "Seconds until another operator takes over from one that was killed [15]")
      ->check(CLI::Range(3.0, 600.0))
      ->type_name("SECONDS");
  app.add_option("--listen", arguments.options.listen,
                 "Address that serves /livez, /readyz and /metrics; port 0: any free one [127.0.0.1:8080]")
      ->transform(listening_address())
      ->type_name("[ADDRESS:]PORT");
  app.add_option("--guaranteed-priority-class", arguments.options.guaranteed_priority_class,
                 "Priority class of guaranteed executors whose template names none [none]")
      ->check(object_name())
      ->type_name("NAME");
  app.add_option("--namespaces", arguments.options.namespaces,
                 "Namespaces to manage; the operator needs write access in these only [all]")
      ->delimiter(',')
      ->check(object_name())
      ->type_name("NAME,...");
  app.add_flag("--json", arguments.json, "Write the log as JSON lines");
  app.footer("Example: kubectl apply -f deploy/chart/crds && podere operator --listen 0.0.0.0:8080");
}

int run_until_interrupted(const OperatorArguments& arguments) {
  count_interrupts();
  OperatorLog log(arguments.json);
  const kube::Access access = kube::find_access(arguments.access);
  controller::OperatorOptions options = arguments.options;
  options.lease_namespace = access.in_namespace;
  options.stop = [] { return interrupts() > 0; };
  options.log = [&](const std::string& line) { log.write(line); };
  options.on_listening = [&](const std::string& url) { log.write(url + " answers /livez, /readyz and /metrics"); };
  controller::run_operator(access, options);
  return kDone;
}

}  // namespace

void add_operator(CLI::App& app, Command& chosen) {
  add_command<OperatorArguments>(app, chosen, "operator", "Carry the farm policy out on a Kubernetes cluster",
                                 define_operator, run_until_interrupted);
}

}  // namespace podere::cli
