// How good a model is on a table.
#include "podere/jobs/evaluate_job.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "podere/base/clock.h"
#include "podere/jobs/job_context.h"
#include "podere/jobs/measures.h"
#include "podere/jobs/report_facts.h"
#include "podere/jobs/training_label.h"

namespace podere::jobs {

namespace {

/// What was read for a job, and what it took.
void add_common_facts(const ModelAndTable& loaded, const JobContext& context, Json& result) {
  result["unknown_categories"] = loaded.facts.unknown;
  result["load_seconds"] = loaded.load_seconds;
  result.update(resources(context.comm, context.n_threads));
}

/// Collective.
Json measure_without_labels(const EvaluateJob& job, const ModelAndTable& loaded, const JobContext& context) {
  const algorithm::Model& model = *loaded.model;
  if (job.staged != 0) check_has_rounds(model, job.model);
  context.progress.report({"evaluate", 0, 1, {}});
  const Stopwatch watch;
  Json result = {
      {"label", {{"kind", "none"}}}, {"rows", loaded.table->n_global_rows()}, {"objective", model.objective()}};
  result.update(model.measures_of_rows(*loaded.table, context.comm, context.n_threads));
  if (result.contains("auc")) {
    const bool is_compared = !result["auc"].is_null();
    result["label"][is_compared ? "compared_with" : "not_compared_with"] = *loaded.table->schema().label;
    if (!is_compared) result.erase("auc");
  }
  result["evaluate_seconds"] = watch.seconds();
  if (job.report) {
    result["report"] = {
        {"model", model_facts(context.comm, model)},
        {"measured", Json::array()},
        {"columns", column_facts(context.comm, *loaded.table, model, Json::array(), context.n_threads)}};
  }
  add_common_facts(loaded, context, result);
  return result;
}

}  // namespace

Json run(const EvaluateJob& job, const JobContext& context) {
  const comm::Communicator& comm = context.comm;
  const int n_threads = context.n_threads;
  const ModelAndTable loaded = load_model_and_table(job.model, job.rounds, job.table, true, context);
  const algorithm::Model& model = *loaded.model;
  if (!table::uses_labels(model.label_rules())) return measure_without_labels(job, loaded, context);
  const table::Table& table = *loaded.table;
  const Stopwatch watch;
  check_missing_labels(job.table, table, loaded.facts.label, comm);
  const table::LabelRules rules = model.label_rules();
  table::weigh_labels(table, {}, 0, rules, "evaluation", comm);

  Json result = {{"label", describe_label(job.table, table, loaded.facts.label, rules.kind, comm)},
                 {"rows", table.n_global_rows()},
                 {"objective", model.objective()}};
  std::vector<float> predictions;
  const std::size_t n_roc_points = job.report ? kRocPoints : job.roc_points;
  Json measures;
  if (job.staged == 0) {
    context.progress.report({"evaluate", 0, 1, {}});
    comm.agree([&] { predictions = model.predictions(model.margins(table, n_threads), n_threads); });
    measures = measure(comm, model, {predictions, table.label(), table.weight()}, n_roc_points);
  } else {
    check_has_rounds(model, job.model);
    const std::size_t n_rounds = model.n_rounds();
    const std::size_t n_stages = std::max<std::size_t>(1, (n_rounds + job.staged - 1) / job.staged);
    std::unique_ptr<algorithm::Stages> margins;
    comm.agree([&] { margins = model.stages(table, n_threads); });
    Json stages = Json::array();
    for (std::size_t stage = 0; stage < n_stages; ++stage) {
      context.progress.report({"evaluate", stage, n_stages, {}});
      const std::size_t last = std::min((stage + 1) * job.staged, n_rounds);
      const bool is_last = stage + 1 == n_stages;
      predictions = model.predictions(margins->margins_after(last), n_threads);
      measures = measure(comm, model, {predictions, table.label(), table.weight()}, is_last ? n_roc_points : 0);
      stages.push_back({{"rounds", last}});
      stages.back().update(measures);
      for (const char* key : {"confusion", "roc"}) stages.back().erase(key);
    }
    result["stages"] = std::move(stages);
  }
  result.update(measures);
  if (job.roc_points == 0) result.erase("roc");
  result["evaluate_seconds"] = watch.seconds();
  if (job.report) {
    context.progress.report({"report", 0, 1, {}});
    Json facts = model_facts(comm, model);
    Json measured = measured_facts(comm, model, {predictions, table.label(), table.weight()}, "test",
                                   name_of(job.table), std::move(measures));
    Json columns = column_facts(comm, table, model, facts.value("importance", Json::array()), n_threads);
    result["report"] = {
        {"model", std::move(facts)}, {"measured", {std::move(measured)}}, {"columns", std::move(columns)}};
  }
  add_common_facts(loaded, context, result);
  return result;
}

}  // namespace podere::jobs
