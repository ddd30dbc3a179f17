#include "podere/tree/permutation_importance.h"

#include <cmath>
#include <limits>

#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/table/features.h"
#include "podere/table/permute.h"
#include "podere/tree/labels.h"
#include "podere/tree/objective.h"
#include "podere/tree/predict.h"
#include "podere/tree/streams.h"

namespace podere::tree {
namespace {

constexpr int kMostRepeats = 1000;

/// The objective's measure, of a model on a table with some columns changed.
class MeasureOfTable {
 public:
  MeasureOfTable(const Model& model, const table::Table& table, const comm::Communicator& comm, int n_threads)
      : model_(model), table_(table), comm_(comm), n_threads_(n_threads) {}

  /// Collective.
  double operator()(const std::vector<std::span<const float>>& features) const {
    std::vector<float> predictions;
    comm_.agree([&] {
      std::vector<float> margins = start_margins(model_.base_margin, table_.n_rows());
      add_trees(model_.trees, model_.n_outputs(), features, n_threads_, margins);
      predictions = predictions_of(model_, std::move(margins), n_threads_);
    });
    return traits_of(model_.options.objective)
        .measure.of(comm_, {predictions, model_.n_outputs(), table_.label(), table_.weight()}, model_.options);
  }

 private:
  const Model& model_;
  const table::Table& table_;
  const comm::Communicator& comm_;
  int n_threads_;
};

void check(const Model& model, const table::Table& table, int repeats, const comm::Communicator& comm) {
  if (repeats < 1 || repeats > kMostRepeats)
    throw_input_error("permutation is {}, allowed is 1 to {} repeats", repeats, kMostRepeats);
  weigh_labels(table, {}, 0, model.options, "evaluation", comm);
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double spread_of(const std::vector<double>& values) {
  if (values.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  const double mean = mean_of(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

std::vector<std::size_t> used_features(const Model& model) {
  std::vector<std::size_t> used;
  const Importance splits = importance(model);
  for (std::size_t j = 0; j < splits.split.size(); ++j) {
    if (splits.split[j] > 0) used.push_back(j);
  }
  return used;
}

}  // namespace

PermutationImportance permutation_importance(const Model& model, const table::Table& table, int repeats,
                                             std::uint64_t seed, const comm::Communicator& comm, int n_threads,
                                             Progress& progress) {
  check(model, table, repeats, comm);
  const auto used = used_features(model);
  const std::size_t n_steps = used.size() * static_cast<std::size_t>(repeats);
  progress.report({"permute", 0, n_steps, {}});
  const Measure& measure = traits_of(model.options.objective).measure;
  const MeasureOfTable measured(model, table, comm, n_threads);
  auto features = table::feature_columns(model.schema, table);
  const double baseline = measured(features);
  if (std::isnan(baseline)) {
    throw InputError("permutation importance needs rows of both classes, with weight, to have an AUC that could fall");
  }
  PermutationImportance result{.measure = measure.name,
                               .baseline = baseline,
                               .mean = std::vector<double>(features.size()),
                               .spread = std::vector<double>(features.size())};
  std::size_t n_done = 0;
  for (const std::size_t j : used) {
    const std::span<const float> column = features[j];
    std::vector<double> worse;
    for (int repeat = 0; repeat < repeats; ++repeat) {
      progress.report({"permute", n_done++, n_steps, {}});
      const std::uint64_t repeat_key = hash64(seed, kPermutationStream, static_cast<std::uint64_t>(repeat));
      const table::Permutation permutation(table.n_global_rows(), hash64(repeat_key, kPermutationStream, j));
      const std::vector<float> shuffled = table::permute(column, table, permutation, comm, n_threads);
      features[j] = shuffled;
      const double permuted = measured(features);
      worse.push_back(measure.is_loss ? permuted - baseline : baseline - permuted);
    }
    features[j] = column;
    result.mean[j] = mean_of(worse);
    result.spread[j] = spread_of(worse);
  }
  progress.report({"permute", n_steps, n_steps, {}});
  return result;
}

}  // namespace podere::tree
