// Training: tables in, a model and the facts of the run out.
#include "podere/session/train_job.h"

#include <memory>
#include <optional>
#include <utility>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/session/checkpoint.h"
#include "podere/session/job_context.h"
#include "podere/session/recording_progress.h"
#include "podere/session/tensorboard_summaries.h"
#include "podere/session/train_network_job.h"
#include "podere/session/training_label.h"
#include "podere/tree/labels.h"
#include "podere/tree/train.h"

namespace podere::session {
namespace {

/// The table of a job, held here or not. What is held lies in `memory`.
std::unique_ptr<table::RowSource> open_rows(const TrainJob& job, const tree::Model* from, const JobContext& context,
                                            io::ReadFacts& facts, std::optional<JobTable>& memory) {
  if (job.low_memory) {
    if (kept_name(job.table.location)) {
      throw_input_error(
          "{}: --low-memory is for files and events; a session's table is in memory already: leave it out",
          job.table.location);
    }
    if (!job.table.classes.empty()) throw_input_error("{}: classes are for what is in memory", job.table.location);
    context.progress.report({"read", 0, 1, {}});
    auto rows = open(job.table, context.comm, context.n_threads, &facts);
    note_file(job.table, facts, context);
    context.progress.count_rows(rows->labels().n_rows(), 0);
    return rows;
  }
  if (from != nullptr) {
    const SourceSpec source = with_format(job.table, context.comm);
    memory.emplace(table_for_model(source, true, from->schema, context, facts));
    check_label_name(source, **memory, from->schema);
  } else {
    memory.emplace(table_of(job.table, true, context, &facts));
  }
  return memory->rows();
}

std::uint64_t count_training_rows(const table::Table& table, const tree::Options& options,
                                  const comm::Communicator& comm) {
  std::uint64_t n_rows = 0;
  for (std::size_t i = 0; i < table.n_rows(); ++i) n_rows += tree::is_training_row(table.global({i}), options) ? 1 : 0;
  return comm.all_reduce(n_rows, comm::Reduction::kSum);
}

/// How many rounds there were, and which of them is the model's last.
Json tell_rounds(const RecordingProgress& recorder, const tree::Model& model) {
  const std::size_t n_kept = model.n_rounds();
  const auto patience = static_cast<std::size_t>(model.options.early_stopping_rounds);
  const bool is_cut_short = recorder.n_done() < static_cast<std::size_t>(model.options.n_trees);
  return {{"trees", n_kept},
          {"rounds_run", recorder.n_done()},
          {"best_round", patience > 0 ? Json(n_kept) : Json()},
          {"stopped_early", patience > 0 && is_cut_short && recorder.n_done() - n_kept >= patience},
          {"was_stopped", recorder.is_stopped()}};
}

}  // namespace

Json run(const TrainJob& job, const JobContext& context) {
  if (job.network) return train_network(job, context);
  const comm::Communicator& comm = context.comm;
  const int n_threads = context.n_threads;
  tree::validate(job.options);
  TensorboardSummaries summaries(job, comm, context.progress);
  const Stopwatch load_watch;
  io::ReadFacts facts_read;
  std::optional<tree::Model> from;
  if (!job.from.empty()) {
    context.progress.report({"read", 0, 1, {}});
    from = need_trees(load_shared_model(job.from, comm), job.from);
  }
  std::optional<JobTable> memory;
  const auto rows = open_rows(job, from ? &*from : nullptr, context, facts_read, memory);
  const LabelWanted wanted{tree::label_rules(job.options), "--objective " + tree::to_string(job.options.objective),
                           "--objective squared-error"};
  check_label_guess(job.table, rows->labels(), facts_read.label, wanted, comm);
  Json label = describe_label(job.table, rows->labels(), facts_read.label, wanted.rules.kind, comm);
  io::UnknownTexts& unknown = facts_read.unknown;
  std::optional<JobTable> validation;
  if (job.validation) {
    io::ReadFacts of_validation;
    validation.emplace(validation_table(job, rows->schema(), context, of_validation));
    for (const auto& [column, n] : of_validation.unknown) unknown[column] += n;
  }
  const double load_seconds = load_watch.seconds();

  RecordingProgress recorder(context.progress, [&](const ProgressStep& step) { summaries.tell_round(step); });
  tree::TrainTimes times;
  Checkpoint checkpoint(job.checkpoint, job.checkpoint_seconds, comm, recorder);
  std::optional<tree::Model> so_far;
  checkpoint.read([&](const std::string& text) { so_far = tree::from_text(text, job.checkpoint); });
  const tree::Model model =
      tree::train(*rows, validation ? &**validation : nullptr, job.options, comm, n_threads, recorder, &times,
                  {.base = from ? &*from : nullptr,
                   .checkpoint = so_far ? &*so_far : nullptr,
                   .offer = [&](const tree::Model& grown) { checkpoint.offer([&] { return tree::to_text(grown); }); }});

  const std::uint64_t n_training = count_training_rows(rows->labels(), job.options, comm);
  const std::uint64_t n_rows = rows->labels().n_global_rows();
  const std::uint64_t n_validation = validation ? (*validation)->n_global_rows() : n_rows - n_training;
  const bool validates = validation || job.options.validation_fraction > 0;
  Json facts = {{"label", std::move(label)},
                {"rows", n_rows},
                {"training_rows", n_training},
                {"validation_rows", validates ? Json(n_validation) : Json()},
                {"features", rows->schema().features.size()},
                {"objective", tree::to_string(model.options.objective)},
                {"load_seconds", load_seconds},
                {"bin_seconds", times.bin_seconds},
                {"train_seconds", times.boost_seconds},
                {"communication", tell_communication(times.boost_traffic, comm)}};
  facts.update(tell_rounds(recorder, model));
  if (validation || from) facts["unknown_categories"] = unknown;
  facts["loss"] = model.history.train_loss.back();
  if (validates) facts["validation_loss"] = model.history.validation_loss.back();
  for (const auto& [name, value] : recorder.metrics(model.n_rounds())) facts[name] = value;
  facts.update(resources(comm, n_threads));
  return {{"facts", std::move(facts)}, {"model", comm.is_root() ? tree::to_text(model) : ""}};
}

}  // namespace podere::session
