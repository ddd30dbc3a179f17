// Gradient-boosted trees by histograms, on rows spread over executors.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "podere/base/progress.h"
#include "podere/comm/communicator.h"
#include "podere/table/row_source.h"
#include "podere/tree/model.h"
#include "podere/tree/options.h"
#include "podere/tree/shared_bins.h"

namespace podere::tree {

/// Where the time and the memory of a training run went, in seconds on this rank.
struct TrainTimes {
  double bin_seconds = 0;    ///< cuts and binning
  double boost_seconds = 0;  ///< all rounds
  comm::TrafficByKind boost_traffic;
};

/// What a run starts from (warm start, checkpoint), and what is called during it. What is pointed to outlives the run.
struct RunControl {
  /// Its trees come first and options.n_trees are added: the table has the same features in the same order, objective,
  /// classes and quantile are the same, other options may differ; the history has losses on this run's data. On the
  /// data and with the options of `base` the model is that of a single run. Early stopping keeps all of it.
  const Model* base = nullptr;
  /// What `offer` was given in a run with the same data, options and base, on any number of executors. The run resumes
  /// from there and ends with the same model.
  const Model* checkpoint = nullptr;
  /// Called with the model so far after each round, on every rank.
  std::function<void(const Model& so_far)> offer = {};
  /// The run ends after so many rounds in all, those before the checkpoint too; 0: after all.
  std::size_t pause_after = 0;
  /// [n_rows] 1 for rows here to train on, 0 for those that early stopping, if there is any, validates on; in place of
  /// validation_fraction. On all ranks, or on none.
  std::optional<std::span<const std::uint8_t>> is_training = std::nullopt;
  /// For several trainings on the same rows with the same number of bins and seed: made by the first, by all rows, also
  /// those that it does not train on. Null: the training makes its own, by the rows that it trains on. On all ranks, or
  /// on none.
  SharedBins* bins = nullptr;
};

/// Whether `row` shapes the model, or is set aside for validation_fraction, by hash of (seed, row).
bool is_training_row(table::GlobalRow row, const Options& options);

/// Trains on rows whose label must be there and which must begin at a row block on every rank; goes through them twice
/// (three times from a checkpoint), and releases their features at the last time. `validation` (may be null) has the
/// same features. Few rows are canonicalized (few_rows.h), and gone through once more. Collective. The model is
/// the same, bit for bit, for any number of ranks and threads. Stops after the round in which rank 0's progress says
/// stop_requested(), or by early stopping, which keeps the best round as the last. Reports a ProgressStep {"bin", 0, 1}
/// at the beginning, {"train", trees done, n_trees, {loss, validation_loss, validation_auc}} before the first round and
/// after each. Throws InputError, on all ranks, for options out of range, no rows or more than 2^31 - 1, a label
/// missing, out of its set or all of one class, weights that are not finite or do not sum to more than zero, a loss
/// that grows beyond bounds, a base that does not fit, a checkpoint of another run. Source: Chen and Guestrin, KDD 2016
/// (gain, sparsity-aware split); Shi et al., NeurIPS 2022 (quantized gradients).
Model train(const table::RowSource& source, const table::Table* validation, const Options& options,
            const comm::Communicator& comm, int n_threads, Progress& progress, TrainTimes* times = nullptr,
            const RunControl& control = {});

}  // namespace podere::tree
