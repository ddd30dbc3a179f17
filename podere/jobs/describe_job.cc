// What is in a table.
#include "podere/jobs/describe_job.h"

#include "podere/base/clock.h"
#include "podere/base/printable.h"
#include "podere/jobs/job_context.h"
#include "podere/table/describe.h"
#include "podere/table/labels.h"

namespace podere::jobs {

Json run(const DescribeJob& job, const JobContext& context) {
  const comm::Communicator& comm = context.comm;
  const int n_threads = context.n_threads;
  const Stopwatch watch;
  source::SourceSpec source = job.table;
  source.counts_texts = job.label_values == 0;
  io::ReadFacts facts;
  const JobTable loaded = table_of(source, false, context, &facts);
  const table::Table& table = *loaded;
  context.progress.report({"describe", 0, 1, {}});
  Json result = {{"rows", table.n_global_rows()}, {"load_seconds", watch.seconds()}};
  if (job.label_values > 0) {
    const auto values = table::label_values(table, job.label_values, comm);
    result["label_values"] = values ? Json(*values) : Json();
    return result;
  }
  result["columns"] = Json::array();
  for (const table::ColumnSummary& column : table::describe(table, comm, n_threads)) {
    const std::size_t place = result["columns"].size();
    const io::ReadFacts::Column found = facts.columns.empty() ? io::ReadFacts::Column{} : facts.columns[place];
    const bool is_category = table.schema().is_categorical(place);
    const bool is_text = found.n_texts > 0;
    const std::size_t n_different = is_text ? found.n_different_texts : column.n_different;
    result["columns"].push_back({{"name", column.name},
                                 {"kind", is_category          ? "category"
                                          : found.kind.empty() ? "number"
                                                               : found.kind},
                                 {"examples", Json::array()},
                                 {"different", n_different > table::kMostDifferent ? Json() : Json(n_different)},
                                 {"minimum", column.minimum},
                                 {"mean", column.mean},
                                 {"maximum", column.maximum},
                                 {"missing", column.n_missing - found.n_texts},
                                 {"infinite", column.n_infinite},
                                 {"histogram", column.histogram}});
    for (const std::string& example : found.examples) {
      if (is_utf8(example)) result["columns"].back()["examples"].push_back(example);
    }
    if (is_text) result["columns"].back()["texts"] = found.n_texts;
  }
  result.update(resources(comm, n_threads));
  return result;
}

}  // namespace podere::jobs
