// Jobs that make tables and keep them.
#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/session/jobs.h"

namespace podere::session {
namespace {

Json facts_of(const std::string& name, const table::Table& table) {
  const table::Schema& schema = table.schema();
  Json categorical = Json::array();
  for (const auto& [feature, dictionary] : schema.categories) categorical.push_back(schema.features[feature]);
  const std::size_t n_columns = schema.features.size() + (schema.label ? 1 : 0) + (schema.weight ? 1 : 0);
  return {{"name", name},
          {"rows", table.n_global_rows()},
          {"features", schema.features},
          {"label", schema.label ? Json(*schema.label) : Json()},
          {"weight", schema.weight ? Json(*schema.weight) : Json()},
          {"categorical", std::move(categorical)},
          {"memory_bytes", table.n_global_rows() * n_columns * sizeof(float)}};
}

}  // namespace

Json run(const LoadJob& job, const Workplace& at) {
  at.tables.check_free(job.name);
  if (kept_name(job.table.location)) throw_input_error("{} is loaded already", job.table.location);
  const Stopwatch watch;
  at.progress.report({"read", 0, 1, {}});
  table::Table table = load(job.table, false, at.comm, at.n_threads);
  Json result = {{"tables", {facts_of(job.name, table)}}, {"load_seconds", watch.seconds()}};
  at.tables.keep(job.name, std::move(table));
  result.update(resources(at.comm, at.n_threads));
  return result;
}

Json run(const DropJob& job, const Workplace& at) {
  at.tables.drop(job.name);
  return Json::object();
}

}  // namespace podere::session
