// Jobs that make tables and keep them.
#include "podere/jobs/table_jobs.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/io/shard_cache.h"
#include "podere/io/write_csv.h"
#include "podere/jobs/job_context.h"
#include "podere/table/filter.h"
#include "podere/table/fingerprint.h"
#include "podere/table/keep_rows.h"
#include "podere/table/select_columns.h"
#include "podere/table/split.h"
#include "podere/table/standardize.h"

namespace podere::jobs {
namespace {

/// From the cache, or from the source, which goes to the cache then. Collective.
table::Table load_by_cache(const LoadJob& job, const JobContext& context) {
  constexpr const char* kShard = "rows";
  if (!job.cache.empty()) {
    if (auto cached = io::read_shards(job.cache, kShard, context.comm, context.n_threads)) return std::move(*cached);
  }
  if (job.only_cached) {
    throw_input_error("{}: changed since it was read, and not all of its rows are cached", job.table.location);
  }
  io::ReadFacts facts;
  table::Table table = load(job.table, false, context.comm, context.n_threads, &facts);
  note_file(job.table, facts, context);
  if (job.cache.empty()) return table;
  const bool is_written = io::write_shard(job.cache, kShard, table, context.n_threads);
  if (context.comm.all_reduce(is_written ? 0 : 1, comm::Reduction::kMax) != 0 && context.comm.is_root()) {
    context.progress.warn(fmt::format("no room to cache {} in {}: it will be read again if executors are lost",
                                      job.table.location, job.cache));
  }
  return table;
}

/// Of a table of arrays, of which only their owner knows whether they changed. Collective. Throws InputError on all
/// ranks if it is another than that of the first time.
std::uint64_t check_fingerprint(const LoadJob& job, const table::Table& table, const JobContext& context) {
  const std::uint64_t found = table::fingerprint(table, context.comm, context.n_threads);
  if (job.fingerprint && *job.fingerprint != found) {
    throw_input_error(
        "{}: its arrays have changed since they were put, so executors that were lost cannot be made up for: put them "
        "again",
        job.name);
  }
  return found;
}

/// The rows whose numbers and values are asked for.
table::Table keep_chosen_rows(const TransformJob& job, const table::Table& table, const JobContext& context) {
  const std::uint64_t last_row = std::min(job.last_row.value_or(table.n_global_rows()), table.n_global_rows());
  if (job.first_row > last_row)
    throw_input_error("rows {} to {}: there are {}", job.first_row, last_row, table.n_global_rows());
  std::vector<std::uint8_t> kept(table.n_rows(), 1);
  context.comm.agree([&] {
    if (!job.where.empty()) kept = table::rows_where(table, job.where, context.n_threads);
  });
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const std::uint64_t row = table.global({i}).value;
    if (row < job.first_row || row >= last_row) kept[i] = 0;
  }
  return table::keep_rows(table, kept, context.comm, context.n_threads);
}

}  // namespace

Json run(const LoadJob& job, const JobContext& context) {
  context.tables.check_free(job.name);
  if (source::kept_name(job.table.location)) throw_input_error("{} is loaded already", job.table.location);
  if (!job.table.classes.empty()) throw_input_error("{}: classes are chosen where a table is used", job.table.location);
  const Stopwatch watch;
  context.progress.report({"read", 0, 1, {}});
  table::Table table = load_by_cache(job, context);
  context.progress.count_rows(table.n_rows(), 0);
  std::optional<std::uint64_t> fingerprint;
  if (job.table.arrays) fingerprint = check_fingerprint(job, table, context);
  Json result = {{"tables", Json::array({facts_of(job.name, table)})}, {"load_seconds", watch.seconds()}};
  if (fingerprint) result["fingerprint"] = *fingerprint;
  context.tables.keep(job.name, std::move(table));
  result.update(resources(context.comm, context.n_threads));
  return result;
}

Json run(const SplitJob& job, const JobContext& context) {
  context.tables.check_free(job.first);
  context.tables.check_free(job.second);
  if (job.first == job.second) throw_input_error("both parts are called {}", job.first);
  const JobTable whole = table_of(job.table, false, context);
  context.progress.report({"split", 0, 1, {}});
  auto [first, second] = table::split(*whole, job.fraction, job.seed, context.comm, context.n_threads);
  Json result = {{"tables", Json::array({facts_of(job.first, first), facts_of(job.second, second)})}};
  context.tables.keep(job.first, std::move(first));
  context.tables.keep(job.second, std::move(second));
  return result;
}

Json run(const TransformJob& job, const JobContext& context) {
  context.tables.check_free(job.name);
  JobTable source = table_of(job.table, false, context);
  context.progress.report({"transform", 0, 1, {}});
  table::Table made = keep_chosen_rows(job, *source, context);
  if (!job.select.empty())
    context.comm.agree([&] { made = table::select_columns(made, job.select, context.n_threads); });
  Json result = Json::object();
  if (job.standardize || job.scaling) {
    const table::Scaling scaling =
        job.scaling ? *job.scaling : table::measure_scaling(made, context.comm, context.n_threads);
    context.comm.agree([&] { table::standardize(made, scaling, context.n_threads); });
    result["scaling"] = {{"mean", scaling.mean}, {"scale", scaling.scale}};
  }
  result["tables"] = Json::array({facts_of(job.name, made)});
  context.tables.keep(job.name, std::move(made));
  return result;
}

Json run(const SaveJob& job, const JobContext& context) {
  const JobTable table = table_of(job.table, false, context);
  context.progress.report({"write", 0, 1, {}});
  io::write_csv(*table, job.output, context.comm, context.n_threads);
  context.progress.count_rows(0, table->n_rows());
  return {{"rows", table->n_global_rows()}};
}

Json run(const DropJob& job, const JobContext& context) {
  context.tables.drop(job.name);
  return Json::object();
}

}  // namespace podere::jobs
