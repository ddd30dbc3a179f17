#include "podere/jobs/svd_job.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/columns/write_npz.h"
#include "podere/jobs/job_context.h"
#include "podere/linalg/column_facts.h"
#include "podere/linalg/products.h"
#include "podere/source/matrix.h"

namespace podere::jobs {
namespace {

columns::Matrix matrix_of(const source::SourceSpec& spec, const JobContext& context) {
  if (source::kept_name(spec.location)) {
    std::optional<columns::Matrix> matrix;
    const table::Table& kept = context.tables.find(spec, false);
    context.comm.agree([&] { matrix = source::matrix_of(kept, spec.location, context.n_threads); });
    return std::move(*matrix);
  }
  context.progress.report({"read", 0, 1, {}});
  io::ReadFacts facts;
  columns::Matrix matrix = source::load_matrix(spec, context.comm, context.n_threads, &facts);
  note_file(spec, facts, context);
  context.progress.count_rows(matrix.values.n_rows(), 0);
  return matrix;
}

void check_rank(const SvdJob& job, const columns::Matrix& matrix) {
  const std::uint64_t n_rows = matrix.values.n_global_rows();
  const std::uint64_t most = std::min<std::uint64_t>(n_rows, matrix.values.n_columns());
  if (job.rank >= 1 && job.rank <= most) return;
  throw_input_error("{}: rank must be from 1 to {}, of {} rows and {} columns; it is {}", job.table.location, most,
                    n_rows, matrix.values.n_columns(), job.rank);
}

/// What the values are before the computation.
struct Prepared {
  linalg::BoundedMap map;
  linalg::Moments moments = {};
};

Prepared prepare(const SvdJob& job, const columns::Matrix& matrix, const JobContext& context) {
  std::vector<double> magnitudes;
  try {
    magnitudes = linalg::magnitudes(matrix.values, matrix.names, context.comm, context.n_threads);
  } catch (const linalg::NotFinite& fault) {
    const linalg::NotFinite in_file(fault.row() + job.table.rows.first_row, fault.column(),
                                    matrix.names[fault.column()]);
    throw_input_error("{}: {}; leave rows or columns out (--rows, --drop), or fill them in", job.table.location,
                      in_file.what());
  }
  constexpr double kMost = 1e290;  // the root of a sum of squares of such is a double
  const auto largest = std::ranges::max_element(magnitudes);
  if (*largest > kMost) {
    throw_input_error("{}: column {} has values of up to {}, allowed are {}: divide them", job.table.location,
                      printable(matrix.names[static_cast<std::size_t>(largest - magnitudes.begin())]), *largest, kMost);
  }
  linalg::ColumnMap map = linalg::ColumnMap::identity(matrix.values.n_columns());
  if (!job.center && !job.scale) return {linalg::bounded(std::move(map), magnitudes)};
  Prepared prepared{{}, linalg::moments(matrix.values, magnitudes, context.comm, context.n_threads)};
  map.shift = prepared.moments.means;
  for (std::size_t j = 0; job.scale && j < map.factor.size(); ++j) {
    if (prepared.moments.deviations[j] < 1 / kMost) {
      throw_input_error(
          "{}: column {} is constant, and cannot be scaled: leave it out with --drop, or do without --scale",
          job.table.location, printable(matrix.names[j]));
    }
    map.factor[j] = 1 / prepared.moments.deviations[j];
  }
  prepared.map = linalg::bounded(std::move(map), magnitudes);
  return prepared;
}

/// Of each of s its square, in the sum of squares of all values.
std::vector<double> shares(const linalg::Svd& svd, const columns::Matrix& matrix, const linalg::BoundedMap& map,
                           const JobContext& context) {
  const double all =
      linalg::column_sums(matrix.values, map.map, linalg::Power::kSecond, context.comm, context.n_threads).sum();
  std::vector<double> result;
  for (const double s : svd.s) {
    const double scaled = std::ldexp(s, -map.exponent);
    result.push_back(all > 0 ? scaled * scaled / all : 0);
  }
  return result;
}

/// Columns that may be labels by their names: a matrix takes them as any other.
std::vector<std::string> called_as_labels(const std::vector<std::string>& names) {
  std::vector<std::string> result;
  for (const std::size_t j : io::usual_labels(names)) result.push_back(names[j]);
  return result;
}

columns::NamedValues named(std::string name, const std::vector<double>& values) {
  return {std::move(name), {values.size()}, values};
}

/// What is written beside U.
std::vector<columns::NamedValues> arrays_of(const SvdJob& job, const linalg::Svd& svd, const Prepared& prepared) {
  std::vector<columns::NamedValues> arrays;
  arrays.push_back(named("s", {svd.s.begin(), svd.s.end()}));
  columns::NamedValues v{"V", {static_cast<std::uint64_t>(svd.v.rows()), static_cast<std::uint64_t>(svd.v.cols())}, {}};
  for (Eigen::Index i = 0; i < svd.v.rows(); ++i) {
    for (Eigen::Index j = 0; j < svd.v.cols(); ++j) v.values.push_back(svd.v(i, j));
  }
  arrays.push_back(std::move(v));
  if (job.center || job.scale) arrays.push_back(named("mean", prepared.moments.means));
  if (job.scale) arrays.push_back(named("deviation", prepared.moments.deviations));
  return arrays;
}

}  // namespace

Json run(const SvdJob& job, const JobContext& context) {
  const comm::Communicator& comm = context.comm;
  const int n_threads = context.n_threads;
  Stopwatch watch;
  const columns::Matrix matrix = matrix_of(job.table, context);
  check_rank(job, matrix);
  const double load_seconds = watch.restart();
  context.progress.report({"svd", 0, 1, {}});
  const Prepared prepared = prepare(job, matrix, context);
  const linalg::SvdOptions options{.rank = job.rank,
                                   .method = job.method,
                                   .tolerance = job.tolerance,
                                   .max_passes = job.max_passes,
                                   .seed = job.seed};
  const auto after_pass = [&](int n_passes, double residual) {
    context.progress.report({"svd", static_cast<std::size_t>(n_passes), 0, {{"residual", residual}}, "pass"});
  };
  const linalg::Svd svd = linalg::svd(matrix.values, prepared.map, options, comm, n_threads, after_pass);
  Json result = {{"rows", matrix.values.n_global_rows()},
                 {"columns", matrix.values.n_columns()},
                 {"values", matrix.type},
                 {"called_as_labels", called_as_labels(matrix.names)},
                 {"s", std::vector<double>(svd.s.begin(), svd.s.end())},
                 {"shares", shares(svd, matrix, prepared.map, context)},
                 {"residuals", std::vector<double>(svd.residuals.begin(), svd.residuals.end())},
                 {"resolved", svd.n_resolved()},
                 {"method", to_string(svd.method)},
                 {"passes", svd.n_passes},
                 {"has_converged", svd.has_converged}};
  const Eigen::MatrixXd ones = Eigen::MatrixXd::Identity(svd.v.cols(), svd.v.cols());
  result["orthogonality"]["V"] = (svd.v.transpose() * svd.v - ones).cwiseAbs().maxCoeff();
  std::optional<linalg::TallMatrix> left;
  if (job.left && !job.output.empty()) {
    comm.agree([&] { left = linalg::left_vectors(matrix.values, prepared.map, svd, n_threads); });
    result["orthogonality"]["U"] = linalg::orthogonality(*left, comm, n_threads);
  }
  result["load_seconds"] = load_seconds;
  result["svd_seconds"] = watch.restart();
  if (!job.output.empty()) {
    context.progress.report({"write", 0, 1, {}});
    columns::write_npz(job.output, arrays_of(job, svd, prepared), "U", left ? &*left : nullptr, comm);
    result["write_seconds"] = watch.seconds();
  }
  result.update(resources(comm, n_threads));
  return result;
}

}  // namespace podere::jobs
