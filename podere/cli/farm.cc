// podere farm: farms on a shared cluster: what they do, what would happen, and simulations.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <thread>
#include <utility>

#include "podere/base/atomic_file.h"
#include "podere/base/error.h"
#include "podere/base/interrupt.h"
#include "podere/base/json.h"
#include "podere/base/printable.h"
#include "podere/cli/arguments.h"
#include "podere/cli/outputs.h"
#include "podere/cli/print.h"
#include "podere/controller/what_if_answer.h"
#include "podere/farm/simulation.h"
#include "podere/farm/state_json.h"
#include "podere/farm/trace.h"
#include "podere/io/file.h"
#include "podere/kube/access.h"
#include "podere/kube/client.h"
#include "podere/overview/farm_list.h"
#include "podere/overview/farm_page.h"
#include "podere/session/live_page.h"

namespace podere::cli {
namespace {

constexpr auto kBetweenLooksForInterrupts = std::chrono::milliseconds(100);
constexpr std::size_t kMostNameBytes = 320;
constexpr std::size_t kMostSentenceBytes = 2000;
constexpr std::uint64_t kMostFileBytes = std::uint64_t{1} << 30;

std::string read_text(const std::string& path) {
  const io::File file(path);
  if (file.size() > kMostFileBytes) throw_input_error("{}: {}, where 1 GB is the most", path, megabytes(file.size()));
  std::string text(file.size(), '\0');
  text.resize(file.read_at(0, text));
  return text;
}

// Policies by name.

struct NamedMode {
  std::string_view name;
  farm::Mode mode;
  const char* in_objects;  // of Kubernetes
};
constexpr std::array<NamedMode, 3> kModes = {{{"proportional", farm::Mode::kProportional, "Proportional"},
                                              {"fair-share", farm::Mode::kFairShare, "FairShare"},
                                              {"history-aware", farm::Mode::kHistoryAware, "HistoryAware"}}};

std::optional<farm::Mode> mode_of(const std::string& name) {
  for (const NamedMode& known : kModes) {
    if (name == known.name) return known.mode;
  }
  return std::nullopt;
}

CLI::Validator policy_name(bool has_original) {
  return {[has_original](std::string& name) -> std::string {
            if (mode_of(name) || (has_original && (name == "original" || name == "all"))) return "";
            return fmt::format("'{}' is not proportional, fair-share, history-aware{}", name,
                               has_original ? ", original or all" : "");
          },
          "", "policy"};
}

// simulate

struct SimulateOptions {
  OutputOptions output;
  std::string trace;
  std::string policy = "all";
  std::uint64_t seed = 1;
};

void define_simulate(CLI::App& app, SimulateOptions& options) {
  app.add_option("TRACE", options.trace, "Events of a cluster: JSON lines, as podere farm trace writes")
      ->required()
      ->check(file_name())
      ->type_name("");
  app.add_option("--policy", options.policy, "Policy to simulate; original is the operator of 2019 [all]")
      ->check(policy_name(true))
      ->type_name("proportional|fair-share|history-aware|original|all");
  app.add_option("--seed", options.seed, "Seed of the times that executors take to start, drain and end [1]")
      ->check(count())
      ->type_name("N");
  add_output_options(app, options.output);
  app.footer("Example: podere farm trace -o trace.jsonl && podere farm simulate trace.jsonl");
}

Json report_json(const std::string& policy, const farm::SimulationReport& report) {
  Json json = {
      {"policy", policy},
      {"simulated_seconds", report.simulated},
      {"waits", report.waits},
      {"waits_unfinished", report.waits_unfinished},
      {"wait_median_seconds", report.wait_median},
      {"wait_p99_seconds", report.wait_p99},
      {"wait_longest_seconds", report.wait_longest},
      {"missing_executor_seconds", report.missing},
      {"reclaimed", report.reclaimed},
      {"reclaimed_needlessly", nullptr},
      {"reclaimed_for_shares", report.reclaimed_for_shares},
      {"returned", report.returned},
      {"cycles", report.cycles},
      {"work_lost_executor_seconds", report.work_lost},
      {"started", report.started},
      {"utilization", report.utilization},
      {"utilization_of_asked", report.utilization_of_asked},
      {"fairness", report.fairness},
      {"decisions", report.decisions},
      {"decisions_per_second", static_cast<double>(report.decisions) / std::max(1e-9, report.decision_seconds)}};
  if (report.reclaimed_needlessly >= 0) json["reclaimed_needlessly"] = report.reclaimed_needlessly;
  return json;
}

void print_reports(const Json& reports) {
  std::vector<std::string> header = {""};
  for (const auto& report : reports) header.push_back(report["policy"]);
  TextTable table(std::move(header));
  const auto row = [&](const std::string& name, auto cell) {
    std::vector<std::string> cells = {name};
    for (const auto& report : reports) cells.push_back(cell(report));
    table.add(std::move(cells));
  };
  const auto count_of = [](const char* name) {
    return [name](const Json& report) {
      return report[name].is_null() ? "-" : with_commas(report[name].get<std::uint64_t>());
    };
  };
  const auto seconds_of = [](const char* name) {
    return [name](const Json& report) { return fmt::format("{:.0f} s", report[name].get<double>()); };
  };
  const auto hours_of = [](const char* name) {
    return [name](const Json& report) { return fmt::format("{:.1f} h", report[name].get<double>() / 3600); };
  };
  const auto fraction_of = [](const char* name) {
    return [name](const Json& report) { return fmt::format("{:.3f}", report[name].get<double>()); };
  };
  row("waits for a guarantee", count_of("waits"));
  row("  median", seconds_of("wait_median_seconds"));
  row("  99 %", seconds_of("wait_p99_seconds"));
  row("  longest", seconds_of("wait_longest_seconds"));
  row("  unfinished", count_of("waits_unfinished"));
  row("missing below guarantees", hours_of("missing_executor_seconds"));
  row("executors reclaimed for guarantees", count_of("reclaimed"));
  row("  more than needed", count_of("reclaimed_needlessly"));
  row("executors reclaimed for shares", count_of("reclaimed_for_shares"));
  row("slots returned", count_of("returned"));
  row("cycles", count_of("cycles"));
  row("work lost", hours_of("work_lost_executor_seconds"));
  row("executors started", count_of("started"));
  row("utilization", fraction_of("utilization"));
  row("  of what is asked for", fraction_of("utilization_of_asked"));
  row("fairness of borrowed room", fraction_of("fairness"));
  row("decisions", count_of("decisions"));
  row("  a second", [](const Json& report) {
    return with_commas(static_cast<std::uint64_t>(report["decisions_per_second"].get<double>()));
  });
  print(table.text());
}

int run_simulate(const SimulateOptions& options) {
  const farm::Trace trace = farm::parse_trace(read_text(options.trace), options.trace);
  std::vector<std::string> policies = {options.policy};
  if (options.policy == "all") policies = {"proportional", "fair-share", "history-aware", "original"};
  Json reports = Json::array();
  for (const std::string& policy : policies) {
    farm::SimulationOptions simulation{.policy = {}, .is_original = policy == "original", .seed = options.seed};
    simulation.policy.mode = mode_of(policy).value_or(farm::Mode::kProportional);
    reports.push_back(report_json(policy, simulate(trace, simulation)));
  }
  if (options.output.json) {
    print_json({{"trace", options.trace}, {"policies", reports}});
  } else {
    print_reports(reports);
  }
  return kDone;
}

// trace

struct TraceOptions {
  farm::RandomTraceOptions random;
  std::string output;
};

void define_trace(CLI::App& app, TraceOptions& options) {
  farm::RandomTraceOptions& random = options.random;
  const auto fraction = CLI::Range(0.0, 1.0);
  app.add_option("-o,--output", options.output, "File to write")
      ->required()
      ->transform(output_file())
      ->type_name("FILE");
  app.add_option("--farms", random.farms, "Number of farms [100]")->transform(whole_number(1, 10000))->type_name("N");
  app.add_option("--nodes", random.nodes, "Number of nodes [50]")->transform(whole_number(1, 10000))->type_name("N");
  app.add_option("--slots", random.slots, "Executors of one core that fit on a node [25]")
      ->transform(whole_number(1, 1000))
      ->type_name("N");
  app.add_option("--hours", random.hours, "Length of the trace [2]")->check(CLI::Range(0.01, 1000.0))->type_name("H");
  app.add_option("--change-minutes", random.change_minutes, "Mean minutes between changes of what a farm wants [20]")
      ->check(CLI::Range(0.1, 10000.0))
      ->type_name("M");
  app.add_option("--guaranteed", random.guaranteed, "Share of the cluster that is guaranteed [0.6]")
      ->check(CLI::Range(0.0, 10.0))
      ->type_name("P");
  app.add_option("--adopted", random.adopted, "Share of farms whose pods another program creates [0]")
      ->check(fraction)
      ->type_name("P");
  app.add_option("--node-losses", random.node_losses, "Nodes lost per hour [1]")
      ->check(CLI::Range(0.0, 1000.0))
      ->type_name("N");
  app.add_flag("--mix", random.mixes_shapes, "Mix executors of one, two and four cores");
  app.add_option("--seed", random.seed, "Seed of the trace [1]")->check(count())->type_name("N");
  app.footer("Example: podere farm trace --farms 1000 --nodes 2000 -o trace.jsonl");
}

int run_trace(const TraceOptions& options) {
  AtomicFile file(options.output);
  file.write(trace_text(random_trace(options.random)));
  file.commit();
  return kDone;
}

/// Takes the namespace of "NAMESPACE/NAME", if it has one, and returns the name: of one farm, or empty for all.
std::string take_namespace(const std::string& farm, const char* argument, bool may_be_all,
                           kube::AccessOptions& access) {
  const auto slash = farm.find('/');
  if (slash == 0 || slash != farm.rfind('/') || (!may_be_all && (farm.empty() || farm.ends_with('/')))) {
    throw_input_error("{}: {} is no farm; allowed are NAME{} NAMESPACE/NAME{}", argument, printable(farm),
                      may_be_all ? "," : " and", may_be_all ? ", and NAMESPACE/ for all of a namespace" : "");
  }
  if (slash != std::string::npos) access.in_namespace = farm.substr(0, slash);
  return farm.substr(slash + 1);
}

// what-if

struct WhatIfOptions {
  OutputOptions output;
  kube::AccessOptions access;
  std::string state;
  std::string farm;
  int executors = 0;
  std::string policy;
};

void define_what_if(CLI::App& app, WhatIfOptions& options) {
  auto* state = app.add_option("--state", options.state,
                               "Read the state of the cluster from this JSON file [ask the operator; nothing changes]")
                    ->check(file_name())
                    ->type_name("FILE");
  app.add_option("--farm", options.farm, "Farm in question [in your namespace]")
      ->required()
      ->type_name("[NAMESPACE/]NAME");
  app.add_option("--executors", options.executors, "Number of executors that it would want")
      ->required()
      ->transform(whole_number(0, farm::kMostExecutors))
      ->type_name("N");
  app.add_option("--policy", options.policy, "Policy [that of the farm's manager; with --state proportional]")
      ->check(policy_name(false))
      ->type_name("proportional|fair-share|history-aware");
  add_access_options(app, options.access);
  for (const char* const name : {"--kubeconfig", "--context"}) app.get_option(name)->excludes(state);
  add_output_options(app, options.output);
  app.footer("Example: podere farm what-if --farm astro/sky --executors 20");
}

/// The operator looks at all farms, pods and nodes, which the user need not see.
controller::WhatIfAnswer ask_operator(WhatIfOptions& options) {
  const std::string name = take_namespace(options.farm, "--farm", false, options.access);
  kube::Client client(kube::find_access(options.access));
  kube::check_access(client);
  const kube::ObjectKey farm{client.access().in_namespace, name};
  std::string mode;
  for (const NamedMode& known : kModes) {
    if (known.name == options.policy) mode = known.in_objects;
  }
  const Json answer = overview::ask_what_if(client, {.farm = farm, .executors = options.executors, .mode = mode});
  return {answer.at("answer"), answer.at("text")};
}

controller::WhatIfAnswer answer_from_file(const WhatIfOptions& options) {
  const controller::LiveState live{.state = farm::parse_state(read_text(options.state), options.state)};
  farm::Policy policy;
  if (!options.policy.empty()) policy.mode = *mode_of(options.policy);
  return controller::answer_what_if(live, policy, options.farm, options.executors);
}

int run_what_if(WhatIfOptions options) {
  const controller::WhatIfAnswer answer = options.state.empty() ? ask_operator(options) : answer_from_file(options);
  options.output.json ? print_json(answer.json) : print(answer.text);
  return kDone;
}

// status

struct StatusOptions {
  OutputOptions output;
  kube::AccessOptions access;
  std::string farm;
  bool all_namespaces = false;
  std::string page;
};

void define_status(CLI::App& app, StatusOptions& options) {
  auto* farm = app.add_option("FARM", options.farm, "Farm, or NAMESPACE/ for all of another namespace [those of yours]")
                   ->type_name("[NAMESPACE/][NAME]");
  app.add_flag("--all-namespaces", options.all_namespaces, "Show the farms of all namespaces that you may see")
      ->excludes(farm);
  add_access_options(app, options.access);
  add_output_options(app, options.output);
  add_page_option(app, options.page,
                  "Show them on a page, as they change, at a port of this machine, until Ctrl-C; "
                  "--page=[ADDRESS:]PORT: there, or at a port after that [8650]")
      ->excludes("--json");
  app.footer("Example: podere farm status --all-namespaces --page");
}

/// A line for each farm, then its sentences.
std::string farms_text(const Json& farms) {
  TextTable table({"farm", "guaranteed", "wanted", "running", "borrowed", "pending", "ending"});
  std::string sentences;
  for (const Json& farm : farms) {
    const std::string key = printable_line(
        fmt::format("{}/{}", farm.at("namespace").get<std::string>(), farm.at("name").get<std::string>()),
        kMostNameBytes);
    const Json& status = farm.at("status");
    std::vector<std::string> row = {key, value_text(farm.at("guaranteed")), value_text(farm.at("wanted"))};
    for (const char* const name : {"running", "over_guarantee", "pending", "terminating"})
      row.push_back(status.is_null() ? "-" : value_text(status.at(name)));
    table.add(std::move(row));
    const std::string sentence = status.is_null() ? "the operator has not looked at it: does podere operator run?"
                                                  : status.at("message").get<std::string>();
    sentences += fmt::format("{}: {}\n", key, printable_line(sentence, kMostSentenceBytes));
  }
  return table.text() + "\n" + sentences;
}

/// Serves the page until the user ends it. With a `name` it begins with that farm.
void show_on_page(kube::Client& client, const std::string& in_namespace, Json farms, const std::string& name,
                  const std::string& address) {
  count_interrupts();
  const overview::FarmPage page(client, in_namespace, std::move(farms), address);
  if (page.has_moved()) print(fmt::format("--page: {} is in use, another port is taken\n", address), STDERR_FILENO);
  const std::string place = name.empty() ? "" : fmt::format("#farm={}/{}", in_namespace, name);
  print(fmt::format("page: {}{}\nCtrl-C ends it\n", page.link(), place));
  while (interrupts() == 0) std::this_thread::sleep_for(kBetweenLooksForInterrupts);
}

int run_status(StatusOptions options) {
  const std::string name = take_namespace(options.farm, "FARM", true, options.access);
  kube::Client client(kube::find_access(options.access));
  kube::check_access(client);
  const std::string in_namespace = options.all_namespaces ? "" : client.access().in_namespace;
  Json farms = overview::list_farms(client, in_namespace);
  const auto is_meant = [&](const Json& farm) { return name.empty() || farm.at("name") == name; };
  if (!name.empty() && std::ranges::none_of(farms, is_meant))
    throw_input_error("there is no farm {} in namespace {}", printable(name), in_namespace);
  if (!options.page.empty()) {
    show_on_page(client, in_namespace, std::move(farms), name, options.page);
    return kDone;
  }
  std::erase_if(farms.get_ref<Json::array_t&>(), std::not_fn(is_meant));
  if (options.output.json) {
    print_json({{"server", client.access().server},
                {"namespace", in_namespace.empty() ? Json() : Json(in_namespace)},
                {"farms", std::move(farms)}});
  } else if (farms.empty()) {
    print(fmt::format("There are no farms in {}: {}\n",
                      in_namespace.empty() ? "this cluster" : "namespace " + in_namespace,
                      in_namespace.empty() ? "docs/farms.md says how one is made"
                                           : "--all-namespaces shows those of others, if you may see them"));
  } else {
    print(farms_text(farms));
  }
  return kDone;
}

}  // namespace

void add_farm(CLI::App& app, Command& chosen) {
  CLI::App* farm = app.add_subcommand("farm", "Share a cluster between farms of executors");
  farm->require_subcommand(1);
  add_command<SimulateOptions>(*farm, chosen, "simulate", "Simulate policies on a trace of a cluster", define_simulate,
                               run_simulate);
  add_command<TraceOptions>(*farm, chosen, "trace", "Write a random trace of a cluster", define_trace, run_trace);
  add_command<StatusOptions>(*farm, chosen, "status", "Show what farms have, what they wait for and why", define_status,
                             run_status);
  add_command<WhatIfOptions>(*farm, chosen, "what-if",
                             "Predict what happens if a farm wants more or fewer executors now", define_what_if,
                             run_what_if);
}

}  // namespace podere::cli
