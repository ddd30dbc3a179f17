#include "podere/jobs/qr_job.h"

#include <fmt/format.h>

#include <algorithm>

#include "podere/base/clock.h"
#include "podere/io/memory_room.h"
#include "podere/jobs/job_context.h"
#include "podere/linalg/qr.h"
#include "podere/linalg/svd.h"

namespace podere::jobs {

Json run(const QrJob& job, const JobContext& context) {
  const comm::Communicator& comm = context.comm;
  const int n_threads = context.n_threads;
  Stopwatch watch;
  columns::Matrix matrix = matrix_of(job.table, context);
  const std::size_t n = matrix.values.n_columns();
  io::check_memory({fmt::format("{}: products of all pairs of {} columns", job.table.location, n),
                    linalg::qr_bytes(n, n_threads), "use fewer --cores or fewer columns"},
                   comm);
  Json result = facts_of(matrix);
  result["load_seconds"] = watch.restart();
  context.progress.report({"qr", 0, 1, {}});
  const linalg::Qr found = in_words_of(job.table, matrix.names, [&] {
    impute(job.impute, matrix, result, context);
    const auto wanted = job.q ? linalg::WantedQ::kInPlace : linalg::WantedQ::kNone;
    return linalg::qr(matrix.values, matrix.names, wanted, comm, n_threads);
  });
  result["passes"] = found.n_passes;
  result["shifted"] = found.n_shifted;
  if (job.q) {
    result["orthogonality"] = linalg::orthogonality(matrix.values, comm, n_threads);
    result["residual"] = std::ranges::max(found.residuals);
  }
  result["qr_seconds"] = watch.restart();
  if (!job.output.empty()) {
    context.progress.report({"write", 0, 1, {}});
    columns::WrittenArrays written{{named("R", found.r, matrix.names)}, "Q", job.q ? &matrix.values : nullptr};
    written.arrays.back().column_names = matrix.names;
    columns::write_arrays(job.output_format, job.output, written, comm, context.n_threads);
    result["write_seconds"] = watch.seconds();
  }
  result.update(resources(comm, n_threads));
  return result;
}

}  // namespace podere::jobs
