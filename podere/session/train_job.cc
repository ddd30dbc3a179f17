// Training: tables in, a model and the facts of the run out.
#include <map>

#include "podere/base/clock.h"
#include "podere/session/jobs.h"
#include "podere/tree/train.h"

namespace podere::session {
namespace {

/// Passes reports on and keeps their metrics: early stopping may end with an earlier round than the last.
class RecordingProgress : public Progress {
 public:
  explicit RecordingProgress(Progress& next) : next_(next) {}

  void report(const ProgressStep& step) override {
    metrics_[step.done] = step.metrics;
    next_.report(step);
  }
  bool stop_requested() override { return is_stopped_ = is_stopped_ || next_.stop_requested(); }

  /// Of the state after `round` rounds.
  std::vector<std::pair<std::string, double>> metrics(std::size_t round) const {
    const auto found = metrics_.find(round);
    return found == metrics_.end() ? std::vector<std::pair<std::string, double>>() : found->second;
  }
  bool is_stopped() const { return is_stopped_; }

 private:
  Progress& next_;
  std::map<std::size_t, std::vector<std::pair<std::string, double>>> metrics_;
  bool is_stopped_ = false;
};

}  // namespace

Json run(const TrainJob& job, const comm::Communicator& comm, int n_threads, Progress& progress) {
  tree::validate(job.options);
  const Stopwatch load_watch;
  const table::Table table = load_reported(job.table, true, comm, n_threads, progress);
  std::optional<table::Table> validation;
  if (job.validation) validation = load_reported(*job.validation, true, comm, n_threads, progress);
  const double load_seconds = load_watch.seconds();

  RecordingProgress recorder(progress);
  tree::TrainTimes times;
  const tree::Model model =
      tree::train(table, validation ? &*validation : nullptr, job.options, comm, n_threads, recorder, &times);

  Json facts = {{"rows", table.n_global_rows()},
                {"validation_rows", validation ? Json(validation->n_global_rows()) : Json()},
                {"features", table.n_features()},
                {"objective", tree::to_string(model.options.objective)},
                {"trees", model.n_rounds()},
                {"was_stopped", recorder.is_stopped()},
                {"load_seconds", load_seconds},
                {"bin_seconds", times.bin_seconds},
                {"train_seconds", times.boost_seconds}};
  for (const auto& [name, value] : recorder.metrics(model.n_rounds())) facts[name] = value;
  facts.update(resources(comm, n_threads));
  return {{"facts", std::move(facts)}, {"model", comm.is_root() ? tree::to_text(model) : ""}};
}

}  // namespace podere::session
