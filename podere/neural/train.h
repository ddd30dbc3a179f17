// Training dense networks on rows spread over executors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "podere/base/progress.h"
#include "podere/comm/communicator.h"
#include "podere/neural/hooks.h"
#include "podere/neural/model.h"
#include "podere/neural/solver.h"
#include "podere/table/row_source.h"

namespace podere::neural {

/// The outcome of a training run, and its times in seconds on this rank.
struct TrainReport {
  double prepare_seconds = 0;  ///< scaling, and features row by row
  double train_seconds = 0;    ///< all epochs
  comm::TrafficByKind traffic;
  std::size_t epochs_run = 0;  ///< of which the model's history has those that count
  std::size_t n_steps = 0;     ///< those before a checkpoint too
  std::size_t steps_per_epoch = 1;
  bool stopped_early = false;  ///< by early stopping
  bool has_converged = false;  ///< nothing more was to be gained
  ServersReport servers;       ///< of parameter servers, where there are
};

/// What a run starts from (warm start, checkpoint), and what is called during it. What is pointed to outlives the run.
struct RunControl {
  /// Its weights and scaling are where this run starts; features, layers and loss are the same.
  const Model* base = nullptr;
  /// What a hook was given in a run with the same data, options and base, on any number of executors. The run resumes
  /// from there and ends with the same model.
  const Checkpoint* checkpoint = nullptr;
  /// The state of a checkpoint after a whole epoch, perhaps on other rows: the solver resumes from its numbers, its
  /// weights too, while steps, epochs and losses are counted anew. Layers and optimizer are the same.
  const TrainState* solver = nullptr;
  /// Called after every step, one after the other.
  std::vector<Hook> hooks = {};
  /// The run ends after so many steps, those before the checkpoint too; 0: after all epochs.
  std::size_t max_steps = 0;
  /// The run ends after so many epochs, those before the checkpoint too; 0: after all.
  std::size_t pause_after = 0;
  /// [n_rows] 1 for rows here to train on, 0 for those that early stopping, if there is any, validates on; in place of
  /// validation_fraction. On all ranks, or on none; not with parameter servers.
  std::optional<std::span<const std::uint8_t>> is_training = std::nullopt;
};

/// Whether `row` shapes the model, or is set aside for validation_fraction, by hash of (seed, row).
bool is_training_row(table::GlobalRow row, const Options& options);

/// Trains on rows whose label and features are held and which must begin at a row block on every rank; releases
/// the features once it has them row by row. Few rows are canonicalized (few_rows.h). `validation` (may be null)
/// has the same features. Collective. The model is the same, bit for bit, for any number of ranks and threads, on all
/// processors with fused multiply-add (x86 with AVX2, 64-bit ARM); but not with servers, to whose workers the rows are
/// moved first. Stops after the step in which rank 0's progress says stop_requested(), which is checked some times in
/// an epoch, or by early stopping, which keeps the weights of the best epoch. Reports ProgressSteps {"prepare", 0, 1}
/// and {"train", steps done, steps, {epoch, loss, validation_loss, validation_auc}, "step" or "iteration"} before the
/// first step, some times in an epoch and after each; the measures are those after the last epoch. Throws InputError,
/// on all ranks, for options out of range, no rows, categories, a label missing or out of its set, features that are
/// not finite, a loss that is no longer finite, a base that does not fit, a checkpoint of another run.
Model train(const table::RowSource& source, const table::Table* validation, const Options& options,
            const comm::Communicator& comm, int n_threads, Progress& progress, TrainReport* report = nullptr,
            const RunControl& control = {});

}  // namespace podere::neural
