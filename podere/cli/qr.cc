// podere qr: orthonormal columns and a triangle.
#include <fmt/format.h>

#include "podere/cli/matrix_command.h"
#include "podere/cli/print.h"
#include "podere/jobs/qr_job.h"

namespace podere::cli {
namespace {

struct QrCommand : MatrixCommand<jobs::QrJob> {
  bool no_q = false;
};

void define_qr(CLI::App& app, QrCommand& options) {
  add_matrix_options(app, "DATA", options.job.table);
  add_arrays_options(app, options,
                     "arrays Q (rows x columns, orthonormal) and R (columns x columns, upper triangular)");
  app.add_flag("--no-q", options.no_q, "Find R alone, in less time");
  add_impute_option(app, options.job.impute);
  add_group_options(app, options.group);
  add_output_options(app, options.output);
  add_job_output_options(app, options.output);
  make_common(app, {"--no-q", "--executors"});
  app.footer("Example: podere qr field.npy -o qr.npz");
}

void print_qr(const QrCommand& options, const Json& facts, int descriptor) {
  const int n_passes = facts.at("passes").get<int>();
  const int n_shifted = facts.at("shifted").get<int>();
  print(fmt::format("by Cholesky QR, {} pass{}{} over the rows, {}\n", n_passes, n_passes == 1 ? "" : "es",
                    n_shifted == 0 ? "" : fmt::format(" ({} with a shift, for nearly dependent columns)", n_shifted),
                    duration(facts.at("qr_seconds").get<double>())),
        descriptor);
  if (facts.contains("residual")) {
    print(fmt::format("largest deviation of Q from orthonormal: {:.1e}\nlargest |A - Q R| of a column, in its largest "
                      "value: {:.1e}\n",
                      facts.at("orthogonality").get<double>(), facts.at("residual").get<double>()),
          descriptor);
  }
  print(options.path.empty() ? "Q and R are written with -o FILE.npz, FILE.h5 or FOLDER/\n"
                             : fmt::format("written: {} ({}R)\n", options.path, options.no_q ? "" : "Q, "),
        descriptor);
}

int run_qr(QrCommand options) {
  options.job.q = !options.no_q;
  return run_matrix_command<jobs::QrJob>(
      options, [&](const Json& facts, int descriptor) { print_qr(options, facts, descriptor); });
}

}  // namespace

void add_qr(CLI::App& app, Command& chosen) {
  add_command<QrCommand>(app, chosen, "qr", "Find orthonormal columns and a triangle: A = Q R", define_qr, run_qr);
}

}  // namespace podere::cli
