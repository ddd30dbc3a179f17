// Training of networks: tables in, a model and the facts of the run out.
#include "podere/session/train_network_job.h"

#include <fmt/ranges.h>

#include <optional>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/neural/labels.h"
#include "podere/neural/train.h"
#include "podere/session/checkpoint.h"
#include "podere/session/job_context.h"
#include "podere/session/recording_progress.h"
#include "podere/session/tensorboard_summaries.h"
#include "podere/session/train_job.h"
#include "podere/session/training_label.h"

namespace podere::session {
namespace {

std::uint64_t count_training_rows(const table::Table& table, const neural::Options& options,
                                  const comm::Communicator& comm) {
  std::uint64_t n_rows = 0;
  for (std::size_t i = 0; i < table.n_rows(); ++i)
    n_rows += neural::is_training_row(table.global({i}), options) ? 1 : 0;
  return comm.all_reduce(n_rows, comm::Reduction::kSum);
}

/// "28-100-1"
std::string layers_text(const neural::Layout& layout) {
  std::string text = std::to_string(layout.n_features());
  for (const neural::Layer& layer : layout.layers()) text += fmt::format("-{}", layer.n_outputs);
  return text;
}

/// How many epochs there were, and which of them is the model's last.
Json tell_epochs(const TrainJob& job, const RecordingProgress& recorder, const neural::Model& model,
                 const neural::TrainReport& report) {
  const bool is_patient = model.options.early_stopping_epochs > 0;
  return {{"epochs", model.history.train_loss.size()},
          {"epochs_run", report.epochs_run},
          {"steps", report.n_steps},
          {"best_epoch", is_patient ? Json(model.history.train_loss.size()) : Json()},
          {"stopped_early", report.stopped_early},
          {"has_converged", report.has_converged},
          {"reached_max_steps", job.max_steps > 0 && report.n_steps >= job.max_steps},
          {"was_stopped", recorder.is_stopped()}};
}

/// How loss and quality went, an entry an epoch, with the seconds of training until then.
class Curve {
 public:
  void note(const neural::AfterStep& after) {
    if (!after.is_epoch_over) return;
    points_["epoch"].push_back(after.history.train_loss.size());
    points_["seconds"].push_back(watch_.seconds());
    points_["loss"].push_back(after.history.train_loss.back());
    if (!after.quality) return;
    points_["validation_loss"].push_back(after.quality->loss);
    if (after.quality->accuracy) points_["validation_accuracy"].push_back(*after.quality->accuracy);
    if (after.quality->auc) points_["validation_auc"].push_back(*after.quality->auc);
  }
  const Json& points() const { return points_; }

 private:
  Stopwatch watch_;
  Json points_ = Json::object();
};

/// How workers and servers got on; null where there are none.
Json tell_servers(const neural::Options& options, const neural::ServersReport& report) {
  if (options.servers == 0) return {};
  double n_gradients = 0;
  double n_steps_late = 0;
  std::size_t most = 0;
  for (std::size_t i = 0; i < report.staleness.size(); ++i) {
    if (report.staleness[i] == 0) continue;
    n_gradients += static_cast<double>(report.staleness[i]);
    n_steps_late += static_cast<double>(report.staleness[i] * i);
    most = i;
  }
  return {{"workers", report.steps_per_second.size()},
          {"servers", options.servers},
          {"staleness", options.staleness},
          {"is_reproducible", options.staleness == 0},
          {"gradients_by_staleness", std::vector(report.staleness.begin(), report.staleness.begin() + most + 1)},
          {"mean_staleness", n_steps_late / std::max(n_gradients, 1.0)},
          {"most_staleness", most},
          {"steps_per_second", report.steps_per_second},
          {"wait_shares", report.wait_shares}};
}

}  // namespace

Json train_network(const TrainJob& job, const JobContext& context) {
  const comm::Communicator& comm = context.comm;
  const neural::Options& options = *job.network;
  neural::validate(options);
  if (job.low_memory) throw InputError("low-memory is for boosted trees, networks hold the rows");
  TensorboardSummaries summaries(job, comm, context.progress);
  const Stopwatch load_watch;
  std::optional<Model> from;
  if (!job.from.empty()) {
    context.progress.report({"read", 0, 1, {}});
    from = load_shared_model(job.from, comm);
    need_network(*from, job.from);
  }
  io::ReadFacts facts_read;
  const SourceSpec source = with_format(job.table, comm);
  JobTable table = from ? table_for_model(source, true, schema_of(*from), context, facts_read)
                        : table_of(source, true, context, &facts_read);
  if (from) check_label_name(source, *table, schema_of(*from));
  const LabelWanted wanted{neural::label_rules(options), "--loss " + neural::to_string(options.loss),
                           "--loss squared-error"};
  check_label_guess(source, *table, facts_read.label, wanted, comm);
  Json label = describe_label(source, *table, facts_read.label, wanted.rules.kind, comm);
  std::optional<JobTable> validation;
  io::ReadFacts of_validation;
  if (job.validation) validation.emplace(validation_table(job, table->schema(), context, of_validation));
  const double load_seconds = load_watch.seconds();

  RecordingProgress recorder(context.progress);
  Checkpoint checkpoint(job.checkpoint, job.checkpoint_seconds, comm, recorder);
  std::optional<neural::Checkpoint> so_far;
  checkpoint.read([&](const std::string& text) { so_far = neural::checkpoint_from_text(text, job.checkpoint); });
  const std::uint64_t n_training = count_training_rows(*table, options, comm);
  const std::uint64_t n_rows = table->n_global_rows();
  const neural::Hook keep_checkpoints = [&](const neural::AfterStep& after) {
    const bool is_end = job.max_steps > 0 && after.n_steps >= job.max_steps;
    checkpoint.offer([&] { return neural::to_text(after.make_checkpoint()); },
                     is_end || after.has_passed(job.checkpoint_steps));
  };
  Curve curve;
  const neural::Hook note_curve = [&](const neural::AfterStep& after) { curve.note(after); };
  const neural::Hook tell_summaries = [&](const neural::AfterStep& after) { summaries.tell_step(after); };
  neural::TrainReport report;
  const neural::Model model = neural::train(*table.rows(), validation ? &**validation : nullptr, options, comm,
                                            context.n_threads, recorder, &report,
                                            {.base = from ? &std::get<neural::Model>(*from) : nullptr,
                                             .checkpoint = so_far ? &*so_far : nullptr,
                                             .hooks = {keep_checkpoints, note_curve, tell_summaries},
                                             .max_steps = job.max_steps});

  const bool validates = validation || options.validation_fraction > 0;
  const std::uint64_t n_validation = validation ? (*validation)->n_global_rows() : n_rows - n_training;
  Json facts = {{"label", std::move(label)},
                {"rows", n_rows},
                {"training_rows", n_training},
                {"validation_rows", validates ? Json(n_validation) : Json()},
                {"features", model.schema.features.size()},
                {"objective", neural::to_string(options.loss)},
                {"layers", layers_text(model.layout)},
                {"weights", model.layout.n_weights()},
                {"optimiser", neural::to_string(options.optimiser)},
                {"load_seconds", load_seconds},
                {"prepare_seconds", report.prepare_seconds},
                {"train_seconds", report.train_seconds},
                {"curve", curve.points()},
                {"parameter_servers", tell_servers(model.options, report.servers)},
                {"communication", tell_communication(report.traffic, comm)}};
  if (options.loss == neural::Loss::kSquaredError) {
    facts["target_scaling"] = {{"mean", model.target.mean}, {"scale", model.target.scale}};
  }
  facts.update(tell_epochs(job, recorder, model, report));
  facts["checkpoint_failed"] = checkpoint.has_failed();
  if (!model.history.train_loss.empty()) facts["loss"] = model.history.train_loss.back();
  if (!model.history.validation_loss.empty()) facts["validation_loss"] = model.history.validation_loss.back();
  for (const auto& [name, value] : recorder.metrics(model.history.train_loss.size() * report.steps_per_epoch)) {
    if (name != "epoch") facts[name] = value;
  }
  facts.update(resources(comm, context.n_threads));
  return {{"facts", std::move(facts)}, {"model", comm.is_root() ? neural::to_text(model) : ""}};
}

}  // namespace podere::session
