#include "podere/jobs/covariance_job.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "podere/base/clock.h"
#include "podere/io/memory_room.h"
#include "podere/jobs/job_context.h"
#include "podere/linalg/covariance.h"

namespace podere::jobs {
namespace {

constexpr std::size_t kStrongestPairs = 10;

void add_findings(const linalg::Covariance& found, const std::vector<std::string>& names, Json& facts) {
  facts["constant"] = Json::array();
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (found.deviations[j] == 0) facts["constant"].push_back(names[j]);
  }
  facts["strongest"] = Json::array();
  for (const linalg::ColumnPair& pair : linalg::strongest_pairs(found.correlations, kStrongestPairs)) {
    facts["strongest"].push_back(
        {{"columns", {names[pair.first], names[pair.second]}}, {"correlation", pair.correlation}});
  }
}

columns::WrittenArrays arrays_of(const CovarianceJob& job, linalg::Covariance found,
                                 const std::vector<std::string>& names) {
  columns::WrittenArrays written{
      {named("mean", found.means, names), named("deviation", found.deviations, names)}, "", nullptr};
  if (job.correlation) {
    written.arrays.push_back(named("correlation", found.correlations, names));
  } else {
    const Eigen::MatrixXd covariances =
        in_words_of(job.table, names, [&] { return std::move(found).into_covariances(names); });
    written.arrays.push_back(named("covariance", covariances, names));
  }
  written.arrays.back().column_names = names;
  return written;
}

}  // namespace

Json run(const CovarianceJob& job, const JobContext& context) {
  const comm::Communicator& comm = context.comm;
  Stopwatch watch;
  columns::Matrix matrix = matrix_of(job.table, context);
  const std::size_t n = matrix.values.n_columns();
  io::check_memory({fmt::format("{}: products of all pairs of {} columns", job.table.location, n),
                    linalg::covariance_bytes(n, context.n_threads), "use fewer --cores or fewer columns"},
                   comm);
  Json result = facts_of(matrix);
  result["load_seconds"] = watch.restart();
  context.progress.report({"covariance", 0, 1, {}});
  linalg::Covariance found = in_words_of(job.table, matrix.names, [&] {
    impute(job.impute, matrix, result, context);
    return linalg::covariance(matrix.values, matrix.names, comm, context.n_threads);
  });
  add_findings(found, matrix.names, result);
  result["covariance_seconds"] = watch.restart();
  if (!job.output.empty()) {
    context.progress.report({"write", 0, 1, {}});
    columns::write_arrays(job.output_format, job.output, arrays_of(job, std::move(found), matrix.names), comm,
                          context.n_threads);
    result["write_seconds"] = watch.seconds();
  }
  result.update(resources(comm, context.n_threads));
  return result;
}

}  // namespace podere::jobs
