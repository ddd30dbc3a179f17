// podere session load, split, transform, save, drop: the tables that a session keeps.
#include <fmt/format.h>

#include <cmath>

#include "podere/base/error.h"
#include "podere/base/interrupt.h"
#include "podere/cli/arguments.h"
#include "podere/cli/group.h"
#include "podere/cli/help.h"
#include "podere/cli/outputs.h"
#include "podere/cli/print.h"
#include "podere/cli/shared_file.h"
#include "podere/jobs/table_jobs.h"

namespace podere::cli {
namespace {

struct TableOptions {
  OutputOptions output;
  GroupOptions group;  // the session alone
  source::SourceSpec source;
  std::string table;   // name of the one that is used
  std::string made;    // name of the one that is made
  std::string second;  // name of the other one that is made
  double fraction = jobs::SplitJob().fraction;
  std::uint64_t seed = 0;
  jobs::TransformJob transform;
  std::string path;
};

source::SourceSpec kept(const TableOptions& options) { return {"table:" + options.table, {}}; }

/// Has the session do a job that makes tables, and shows these.
int make(const TableOptions& options, const jobs::Job& job) {
  count_interrupts();
  const Json result = run_job(options.group, options.output, job);
  show_result(options.output, result, STDOUT_FILENO, [&] {
    for (const Json& table : result.at("tables")) {
      print(fmt::format("table:{}: {} rows, {} features, {}\n", table.at("name").get<std::string>(),
                        with_commas(table.at("rows").get<std::uint64_t>()), table.at("features").size(),
                        table.at("label").is_null() ? "no label" : "label " + table.at("label").get<std::string>()));
    }
  });
  return kDone;
}

int load(const TableOptions& options) { return make(options, jobs::LoadJob{options.source, options.made}); }

int split(const TableOptions& options) {
  if (!std::isfinite(options.fraction)) {
    throw_input_error("--fraction is {}, allowed is above 0 and below 1", options.fraction);
  }
  return make(options, jobs::SplitJob{kept(options), options.fraction, options.seed, options.made, options.second});
}

int transform(const TableOptions& options) {
  jobs::TransformJob job = options.transform;
  job.table = kept(options);
  job.name = options.made;
  job.first_row = options.source.rows.first_row;
  job.last_row = options.source.rows.last_row;
  return make(options, job);
}

int save(const TableOptions& options) {
  const int facts_to = prepare_outputs({{"-o", options.path}}, {});
  SharedFile file(options.path);
  const Json result = run_job(options.group, options.output, jobs::SaveJob{kept(options), file.path()});
  file.commit();
  show_result(options.output, result, facts_to, [&] {
    print(fmt::format("{} rows in {}\n", with_commas(result.at("rows").get<std::uint64_t>()), options.path), facts_to);
  });
  return kDone;
}

int drop(const TableOptions& options) {
  run_job(options.group, options.output, jobs::DropJob{options.table});
  show_result(options.output, {{"dropped", options.table}}, STDOUT_FILENO,
              [&] { print(fmt::format("dropped table:{}\n", options.table)); });
  return kDone;
}

void define_session(CLI::App& app, TableOptions& options) {
  app.add_option("NAME", options.group.session, "Name of the session")->required()->type_name("");
  add_output_options(app, options.output);
}

void define_table(CLI::App& app, TableOptions& options) {
  define_session(app, options);
  app.add_option("TABLE", options.table, "Name of the table")->required()->type_name("");
}

void add_made(CLI::App& app, const char* option, std::string& name, const char* description) {
  app.add_option(option, name, description)->required()->type_name("TABLE");
}

void define_load(CLI::App& app, TableOptions& options) {
  define_session(app, options);
  add_source_options(app, "DATA", options.source);
  add_categorical_option(app, options.source);
  add_made(app, "--as", options.made, "Name of the table");
  app.footer("Example: podere session load higgs data/higgs_15688.csv.gz --as higgs --label label");
}

void define_split(CLI::App& app, TableOptions& options) {
  define_table(app, options);
  app.add_option("--fraction", options.fraction, fmt::format("Share of rows in the first table [{}]", options.fraction))
      ->check(real_number())
      ->type_name("X");
  app.add_option("--seed", options.seed, "Seed of the draw [0]")->transform(count())->type_name("S");
  add_made(app, "--first", options.made, "Name of the first table");
  add_made(app, "--second", options.second, "Name of the second table");
  app.footer("Example: podere session split higgs higgs --fraction 0.9 --first train --second test");
}

void define_transform(CLI::App& app, TableOptions& options) {
  define_table(app, options);
  add_made(app, "--as", options.made, "Name of the new table");
  add_rows_option(app, options.source.rows);
  app.add_option("--where", options.transform.where,
                 "Keep rows for which this holds, such as 'm_bb > 1 && !missing(x)'")
      ->check([](const std::string& text) { return text.empty() ? "an expression is needed" : ""; })
      ->type_name("EXPRESSION");
  app.add_option_function<std::string>(
         "--select",
         [&options](const std::string& text) { options.transform.select = split_columns("--select", text); },
         "Features to keep, in this order, by name [all]")
      ->type_name("A,B,...");
  app.add_flag("--standardize", options.transform.standardize, "Scale features to mean 0 and standard deviation 1");
  app.add_flag("--standardise", options.transform.standardize)->group(kHidden);
  app.footer("Example: podere session transform higgs train --where 'm_bb > 0.5' --as train_cut");
}

void define_save(CLI::App& app, TableOptions& options) {
  define_table(app, options);
  app.add_option("-o,--output", options.path, "File to write, separated by commas")
      ->required()
      ->transform(output_file())
      ->type_name("FILE");
  app.footer("Example: podere session save higgs test -o test.csv");
}

void define_drop(CLI::App& app, TableOptions& options) {
  define_table(app, options);
  app.footer("Example: podere session drop higgs train");
}

}  // namespace

void add_session_tables(CLI::App& session, Command& chosen) {
  const auto add = [&](const char* name, const char* description, auto* define, int (*run)(const TableOptions&)) {
    add_command<TableOptions>(session, chosen, name, description, define, run);
  };
  add("load", "Load a table into a session, as table:TABLE", define_load, load);
  add("split", "Split the rows of a table into two tables", define_split, split);
  add("transform", "Make a table from some rows and features of another", define_transform, transform);
  add("save", "Write a table to a file", define_save, save);
  add("drop", "Release the memory of a table", define_drop, drop);
}

}  // namespace podere::cli
