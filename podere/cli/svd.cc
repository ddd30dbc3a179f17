// podere svd: leading singular values and vectors, and principal components.
#include <fmt/format.h>

#include <algorithm>

#include "podere/cli/arguments.h"
#include "podere/cli/help.h"
#include "podere/cli/matrix_command.h"
#include "podere/cli/print.h"
#include "podere/jobs/svd_job.h"

namespace podere::cli {
namespace {

constexpr std::size_t kShownValues = 20;

struct SvdCommand : MatrixCommand<jobs::SvdJob> {
  bool no_left = false;
};

void define_svd(CLI::App& app, SvdCommand& options) {
  jobs::SvdJob& job = options.job;
  add_matrix_options(app, "DATA", job.table);
  app.add_option("--rank", job.rank, "How many singular values and vectors")
      ->required()
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
  add_arrays_options(app, options, "arrays U, s and V (rows x rank, rank, columns x rank)");
  app.add_flag("--no-left", options.no_left, "Do not write U");
  app.add_flag("--center", job.center, "Subtract the mean of each column first: principal components");
  app.add_flag("--scale", job.scale, "Divide each column by its standard deviation, too");
  app.add_flag("--drop-missing", job.drop_missing,
               "Leave out columns without a value in any row, such as places on land");
  add_impute_option(app, job.impute);
  add_choice(app, "--method", job.method,
             "Eigenvectors of A^T A (gram), block Krylov subspaces (krylov), or what suits the shape");
  app.add_option("--tolerance", job.tolerance,
                 fmt::format("Largest residual, in the singular value [{}]", job.tolerance))
      ->check(CLI::Range(1e-15, 1.0))
      ->type_name("X");
  app.add_option("--passes", job.max_passes, fmt::format("Most passes over the rows [{}]", job.max_passes))
      ->check(CLI::Range(3, 1'000'000))
      ->type_name("N");
  app.add_option("--seed", job.seed, "Seed of the random columns with which krylov begins [0]")->type_name("N");
  add_group_options(app, options.group);
  add_output_options(app, options.output);
  add_job_output_options(app, options.output);
  make_common(app, {"--rank", "--center", "--executors"});
  app.footer("Example: podere svd field.npy --rank 20 --center -o components.npz");
}

void print_table(const SvdCommand& options, const Json& facts, int descriptor) {
  const bool is_variance = options.job.center || options.job.scale;
  TextTable table({"", "singular value", is_variance ? "share of variance" : "share of squares", "residual"});
  const auto& values = facts.at("s");
  for (std::size_t i = 0; i < std::min(values.size(), kShownValues); ++i) {
    table.add({fmt::format("{}", i + 1), fmt::format("{:.10g}", values[i].get<double>()),
               fmt::format("{:.4f} %", 100 * facts.at("shares")[i].get<double>()),
               fmt::format("{:.1e}", facts.at("residuals")[i].get<double>())});
  }
  print(table.text(), descriptor);
  if (values.size() > kShownValues) {
    print(fmt::format("and {} more: --json has all\n", values.size() - kShownValues), descriptor);
  }
}

/// How the values were found, and how far to trust them.
void print_trust(const SvdCommand& options, const Json& facts, int descriptor) {
  const bool is_gram = facts.at("method") == "gram";
  print(fmt::format("\nby {}, {} passes over the rows, {}\n",
                    is_gram ? "eigenvectors of the columns' products (--method gram)"
                            : "block Krylov subspaces (--method krylov)",
                    facts.at("passes").get<int>(), duration(facts.at("svd_seconds").get<double>())),
        descriptor);
  const auto& orthogonality = facts.at("orthogonality");
  print(
      fmt::format("largest deviation from orthonormal: {:.1e} of V{}\n", orthogonality.at("V").get<double>(),
                  orthogonality.contains("U") ? fmt::format(", {:.1e} of U", orthogonality.at("U").get<double>()) : ""),
      descriptor);
  const auto n_resolved = facts.at("resolved").get<std::size_t>();
  const std::size_t n_values = facts.at("s").size();
  if (n_resolved < n_values) {
    print(fmt::format("{} of the values are no more than rounding makes of zero; their columns of U are zeros\n",
                      n_values - n_resolved),
          descriptor);
  }
  if (!facts.at("has_converged").get<bool>()) {
    print(fmt::format(
              "residuals are above --tolerance {} and rounding: such values are less certain; more --passes, or a "
              "smaller --rank, may help\n",
              options.job.tolerance),
          descriptor);
  }
}

int run_svd(SvdCommand options) {
  options.job.left = !options.no_left;
  return run_matrix_command<jobs::SvdJob>(options, [&](const Json& facts, int descriptor) {
    print_table(options, facts, descriptor);
    print_trust(options, facts, descriptor);
    print(options.path.empty() ? "vectors are written with -o FILE.npz, FILE.h5 or FOLDER/\n"
                               : fmt::format("written: {} ({}s, V)\n", options.path, options.no_left ? "" : "U, "),
          descriptor);
  });
}

}  // namespace

void add_svd(CLI::App& app, Command& chosen) {
  add_command<SvdCommand>(app, chosen, "svd", "Find leading singular values and vectors, or principal components",
                          define_svd, run_svd);
}

}  // namespace podere::cli
