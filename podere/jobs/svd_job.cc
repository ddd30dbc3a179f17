#include "podere/jobs/svd_job.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/io/memory_room.h"
#include "podere/jobs/job_context.h"
#include "podere/linalg/prepare.h"
#include "podere/linalg/products.h"

namespace podere::jobs {
namespace {

/// Throws InputError, on all ranks, for a rank that there is not, and where there is too little memory.
void check_size(const SvdJob& job, const linalg::SvdOptions& options, const linalg::TallRows& values,
                const JobContext& context) {
  const std::uint64_t most = std::min<std::uint64_t>(values.n_global_rows(), values.n_columns());
  if (job.rank < 1 || job.rank > most) {
    throw_input_error("{}: rank must be from 1 to {}, of {} rows and {} columns; it is {}", job.table.location, most,
                      values.n_global_rows(), values.n_columns(), job.rank);
  }
  const bool is_gram = linalg::chosen_method(options, values.n_columns()) == linalg::SvdMethod::kGram;
  const std::string what = is_gram ? "products of all pairs of" : fmt::format("vectors of rank {} for", job.rank);
  io::check_memory({fmt::format("{}: {} {} columns (--method {})", job.table.location, what, values.n_columns(),
                                is_gram ? "gram" : "krylov"),
                    linalg::svd_bytes(options, values.n_columns(), context.n_threads),
                    is_gram ? "use --method krylov with a smaller --rank, fewer --cores, or fewer columns"
                            : "use a smaller --rank, fewer --cores, or fewer columns"},
                   context.comm);
}

/// What is written beside U.
std::vector<columns::NamedValues> arrays_of(const SvdJob& job, const linalg::Svd& svd, const linalg::Moments& moments,
                                            const std::vector<std::string>& names,
                                            const std::vector<std::size_t>& kept_columns) {
  std::vector<columns::NamedValues> arrays;
  arrays.push_back(named("s", std::vector<double>(svd.s.begin(), svd.s.end())));
  arrays.push_back(named("V", svd.v, names));
  if (job.center || job.scale) arrays.push_back(named("mean", moments.means, names));
  if (job.scale) arrays.push_back(named("deviation", moments.deviations, names));
  arrays.push_back(named("shares", std::vector<double>(svd.shares.begin(), svd.shares.end())));
  arrays.push_back(named("residuals", std::vector<double>(svd.residuals.begin(), svd.residuals.end())));
  if (job.drop_missing) {
    arrays.push_back(named("columns", std::vector<double>(kept_columns.begin(), kept_columns.end()), names));
  }
  return arrays;
}

void add_svd(const linalg::Svd& svd, Json& facts) {
  const Eigen::MatrixXd ones = Eigen::MatrixXd::Identity(svd.v.cols(), svd.v.cols());
  facts["s"] = std::vector<double>(svd.s.begin(), svd.s.end());
  facts["shares"] = std::vector<double>(svd.shares.begin(), svd.shares.end());
  facts["residuals"] = std::vector<double>(svd.residuals.begin(), svd.residuals.end());
  facts["resolved"] = svd.n_resolved();
  facts["method"] = to_string(svd.method);
  facts["passes"] = svd.n_passes;
  facts["has_converged"] = svd.has_converged;
  facts["orthogonality"]["V"] = (svd.v.transpose() * svd.v - ones).cwiseAbs().maxCoeff();
}

}  // namespace

Json run(const SvdJob& job, const JobContext& context) {
  const comm::Communicator& comm = context.comm;
  const int n_threads = context.n_threads;
  Stopwatch watch;
  columns::Matrix matrix = matrix_of(job.table, context);
  const linalg::SvdOptions options{.rank = job.rank,
                                   .method = job.method,
                                   .tolerance = job.tolerance,
                                   .max_passes = job.max_passes,
                                   .seed = job.seed};
  Json missing = Json::object();
  std::vector<std::size_t> kept_columns;
  if (job.drop_missing) kept_columns = drop_missing(job.table, matrix, missing, context);
  check_size(job, options, matrix.values, context);
  Json result = facts_of(matrix);
  result.update(missing);
  result["load_seconds"] = watch.restart();
  context.progress.report({"svd", 0, 1, {}});
  const linalg::Prepared prepared = in_words_of(
      job.table, matrix.names,
      [&] {
        impute(job.impute, matrix, result, context);
        return linalg::prepare(matrix.values, matrix.names, {job.center, job.scale}, comm, n_threads);
      },
      "--rows, --drop, --drop-missing");
  const linalg::Svd svd =
      linalg::svd(matrix.values, prepared.map, options, comm, n_threads, [&](int n_passes, double residual) {
        context.progress.report({"svd", static_cast<std::size_t>(n_passes), 0, {{"residual", residual}}, "pass"});
      });
  add_svd(svd, result);
  std::optional<linalg::TallMatrix> left;
  if (job.left && !job.output.empty()) {
    comm.agree([&] { left = linalg::left_vectors(matrix.values, prepared.map, svd, n_threads); });
    result["orthogonality"]["U"] = linalg::orthogonality(*left, comm, n_threads);
  }
  result["svd_seconds"] = watch.restart();
  if (!job.output.empty()) {
    context.progress.report({"write", 0, 1, {}});
    const columns::WrittenArrays written{arrays_of(job, svd, prepared.moments, matrix.names, kept_columns), "U",
                                         left ? &*left : nullptr};
    columns::write_arrays(job.output_format, job.output, written, comm, n_threads);
    result["write_seconds"] = watch.seconds();
  }
  result.update(resources(comm, n_threads));
  return result;
}

Json run(const ProjectJob& job, const JobContext& context) {
  const comm::Communicator& comm = context.comm;
  Stopwatch watch;
  const columns::Matrix matrix = matrix_of(job.table, context);
  const std::size_t n = matrix.values.n_columns();
  if (!job.columns.empty() && job.columns != matrix.names) {
    throw_input_error("{}: its columns are {}, allowed are those of the decomposition: {}", job.table.location,
                      printable_list(matrix.names), printable_list(job.columns));
  }
  if (job.mean.size() != n || job.vectors.empty() || job.vectors.size() % n != 0) {
    throw_input_error("{}: has {} columns, the vectors are of {}", job.table.location, n, job.mean.size());
  }
  const double load_seconds = watch.restart();
  in_words_of(job.table, matrix.names,
              [&] { return linalg::ranges(matrix.values, matrix.names, comm, context.n_threads); });
  context.progress.report({"project", 0, 1, {}});
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto rank = static_cast<Eigen::Index>(job.vectors.size() / n);
  const Eigen::MatrixXd v = Eigen::Map<const RowMajor>(job.vectors.data(), static_cast<Eigen::Index>(n), rank);
  std::optional<linalg::TallMatrix> scores;
  comm.agree([&] {
    const linalg::ColumnMap map{job.mean, std::vector<double>(n, 1.0)};
    scores = linalg::multiply(matrix.values, map, v, context.n_threads);
  });
  const double project_seconds = watch.restart();
  columns::write_arrays(columns::ArraysFormat::kNpz, job.output, {{}, "scores", &*scores}, comm, context.n_threads);
  Json result = {{"rows", matrix.values.n_global_rows()},
                 {"load_seconds", load_seconds},
                 {"project_seconds", project_seconds},
                 {"write_seconds", watch.seconds()}};
  result.update(resources(comm, context.n_threads));
  return result;
}

}  // namespace podere::jobs
