// A training run from its first step to its last.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "podere/base/progress.h"
#include "podere/comm/communicator.h"
#include "podere/neural/hooks.h"
#include "podere/neural/model.h"
#include "podere/neural/solver.h"
#include "podere/neural/validation.h"
#include "podere/table/same_run.h"

namespace podere::neural {

/// The rows of a run; those to validate on where early stopping has a table of them.
struct RunRows {
  table::DataFingerprint training = {};
  table::DataFingerprint validation = {};
};
/// Of the run that left the checkpoint. Throws InputError if they are not in it.
RunRows rows_of(const Checkpoint& checkpoint);

/// Has a solver take its steps, and in between measures, reports, writes checkpoints and stops.
class Run {
 public:
  /// All outlive this. `model` has all but its weights and its history, which this fills in.
  Run(Model& model, Solver& solver, const RunRows& rows, const std::optional<ValidationRows>& validation,
      const comm::Communicator& comm, int n_threads, Progress& progress)
      : model_(model),
        solver_(solver),
        rows_(rows),
        validation_(validation),
        comm_(comm),
        n_threads_(n_threads),
        progress_(progress) {}

  /// Resumes from there. Throws InputError if it is of another run. Local.
  void resume(const Checkpoint& checkpoint);
  /// To the end, or until so many steps are done (0: no such end). Collective.
  void go(std::span<const Hook> hooks, std::size_t max_steps);

  /// Throws InputError if the last step has led where outputs, and so the loss, are not finite: there is no step after
  /// it that would find out. Looks at the first rows here that count. Collective.
  void check_end(const TrainingRows& rows) const;

  std::size_t n_steps() const { return n_steps_; }
  std::size_t n_epochs_done() const { return n_steps_ / solver_.n_steps(); }
  /// Whether as many epochs as early stopping has patience for brought no gain.
  bool has_lost_patience() const {
    return keeps_best() &&
           n_epochs_done() >= best_.epoch + static_cast<std::size_t>(model_.options.early_stopping_epochs);
  }

 private:
  /// The weights of the best epoch so far, for early stopping.
  struct Best {
    double loss = std::numeric_limits<double>::infinity();
    std::size_t epoch = 0;
    std::vector<float> weights;
  };

  bool keeps_best() const { return model_.options.early_stopping_epochs > 0; }
  bool is_over(std::size_t max_steps) const;
  void take_step(std::span<const Hook> hooks, std::size_t most);
  void end_epoch();
  void take_weights();
  void report();
  bool is_to_stop();
  /// `n_before` steps went well.
  [[noreturn]] void refuse_divergence(std::size_t n_before) const;
  Checkpoint checkpoint() const;

  Model& model_;
  Solver& solver_;
  const RunRows rows_;
  const std::optional<ValidationRows>& validation_;
  const comm::Communicator& comm_;
  int n_threads_;
  Progress& progress_;
  std::size_t n_steps_ = 0;
  double epoch_loss_ = 0;    // of the steps of this epoch so far
  double epoch_weight_ = 0;  // the same
  std::optional<Quality> quality_;
  Best best_;
};

}  // namespace podere::neural
