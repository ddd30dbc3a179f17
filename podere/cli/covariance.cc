// podere covariance: covariances and correlations of columns.
#include <fmt/format.h>

#include "podere/base/printable.h"
#include "podere/cli/matrix_command.h"
#include "podere/cli/print.h"
#include "podere/jobs/covariance_job.h"

namespace podere::cli {
namespace {

using CovarianceCommand = MatrixCommand<jobs::CovarianceJob>;

void define_covariance(CLI::App& app, CovarianceCommand& options) {
  add_matrix_options(app, "DATA", options.job.table);
  add_arrays_options(app, options, "arrays covariance (columns x columns), mean and deviation");
  app.add_flag("--correlation", options.job.correlation,
               "Write correlation in place of covariance: covariances in standard deviations, from -1 to 1");
  add_impute_option(app, options.job.impute);
  add_group_options(app, options.group);
  add_output_options(app, options.output);
  add_job_output_options(app, options.output);
  make_common(app, {"--correlation", "--executors"});
  app.footer("Example: podere covariance field.npy --correlation -o correlations.npz");
}

void print_strongest(const Json& facts, int descriptor) {
  TextTable table({"most correlated columns", "correlation"});
  for (const Json& pair : facts.at("strongest")) {
    const auto names = pair.at("columns").get<std::vector<std::string>>();
    table.add({printable_list(names), fmt::format("{:.6f}", pair.at("correlation").get<double>())});
  }
  print(facts.at("strongest").empty() ? "no two columns vary: there are no correlations\n" : table.text(), descriptor);
}

int run_covariance(CovarianceCommand options) {
  return run_matrix_command<jobs::CovarianceJob>(options, [&](const Json& facts, int descriptor) {
    print_strongest(facts, descriptor);
    const auto constant = facts.at("constant").get<std::vector<std::string>>();
    if (!constant.empty()) {
      print(fmt::format("\nconstant columns, whose covariances are 0, and correlations NaN: {}\n",
                        printable_list(constant)),
            descriptor);
    }
    print(fmt::format("\nfound in {}\n", duration(facts.at("covariance_seconds").get<double>())), descriptor);
    const char* const array = options.job.correlation ? "correlation" : "covariance";
    print(options.path.empty() ? "all are written with -o FILE.npz, FILE.h5 or FOLDER/\n"
                               : fmt::format("written: {} ({}, mean, deviation)\n", options.path, array),
          descriptor);
  });
}

}  // namespace

void add_covariance(CLI::App& app, Command& chosen) {
  add_command<CovarianceCommand>(app, chosen, "covariance", "Find covariances or correlations of columns",
                                 define_covariance, run_covariance);
}

}  // namespace podere::cli
