#include "podere/cluster/kmeans.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/base/json_fields.h"
#include "podere/cluster/clustering.h"
#include "podere/cluster/kmeans_model.h"
#include "podere/cluster/mini_batch.h"
#include "podere/cluster/seeding.h"
#include "podere/table/check_numbers.h"

namespace podere::cluster {
namespace {

constexpr int kMostClusters = 10'000;
constexpr std::uint64_t kMostBatch = 1'000'000'000;
constexpr std::uint64_t kReportedSteps = 16;   // batches between reports
constexpr std::uint64_t kMostStart = 100'000;  // rows of which a start is chosen, unless there are many clusters
// Beyond, sums of so many rows would have less than float32's bits.
constexpr std::uint64_t kMostDrawn = std::uint64_t{1} << 37;

struct KmeansOptions {
  int n_clusters = 8;
  bool standardize = false;
  int max_iterations = 300;
  double tolerance = 1e-4;
  int restarts = 1;
  std::uint64_t batch = 0;
  int patience = 10;
  std::uint64_t seed = 0;

  static void visit_fields(auto& self, auto&& visit) {
    visit("n_clusters", self.n_clusters, "Clusters");
    visit("standardize", self.standardize, "Measure each feature in its standard deviations, so that all count alike");
    visit("max_iterations", self.max_iterations,
          "Iterations at most; with --batch: as many rows are drawn as so many passes have");
    visit("tolerance", self.tolerance,
          "Stop once centroids move less: the sum of their squares, relative to the mean variance of the features; not "
          "of batches");
    visit("restarts", self.restarts, "Begin so many times, and keep the clusters with the least inertia");
    visit("batch", self.batch, "Draw so many rows for each iteration; 0: all rows are in each");
    visit("patience", self.patience, "With --batch: stop once so many batches, one after another, did not improve");
    visit("seed", self.seed, "Of the random numbers");
  }
};

/// Clusters of one start.
struct Found {
  Centroids centroids;
  std::vector<double> weights;
  double loss = 0;  ///< inertia, in units
  std::uint64_t n_iterations = 0;
  bool has_converged = false;
  bool was_stopped = false;
};

class KmeansTrainer final : public algorithm::Trainer {
 public:
  explicit KmeansTrainer(const KmeansOptions& options) : options_(options) {
    check_range("clusters", options.n_clusters, 1, kMostClusters);
    check_range("max-iterations", options.max_iterations, 1, kMostIterations);
    check_range("restarts", options.restarts, 1, kMostRestarts);
    check_range("patience", options.patience, 1, kMostIterations);
    if (options.batch > kMostBatch) throw_input_error("batch is {}, allowed is 0 to {}", options.batch, kMostBatch);
    check_share("tolerance", options.tolerance);
  }

  std::string objective() const override { return "squared-distance"; }
  table::LabelRules label_rules() const override { return {table::LabelKind::kNone, n_clusters(), {}, ""}; }
  std::string objective_option() const override { return "kmeans"; }

  algorithm::Trained train(const table::RowSource& source, const table::Table* /*validation*/,
                           const algorithm::Run& run) const override {
    const table::Table& table = source.labels();
    table::check_features_are_numbers(table.schema(), "k-means");
    check_row_count("clusters", options_.n_clusters, table.n_global_rows());
    const Spread spread = measure_spread(table, options_.standardize, run.comm, run.n_threads);
    if (!options_.standardize) warn_of_widths(table.schema(), spread, run);
    const ScaledRows rows(table, spread.units);
    const double max_weight = largest_weight(table, run.comm);
    const SumUnits units(spread.bound, max_weight, table.n_global_rows());
    Found best = best_of_starts(options_.restarts, [&](int start) {
      const std::uint64_t seed = hash64(options_.seed, 0, static_cast<std::uint64_t>(start));
      return options_.batch > 0 ? cluster_by_batches(rows, units, spread, max_weight, seed, run)
                                : cluster(rows, units, spread, seed, run);
    });
    return trained(table.schema(), spread.units, std::move(best));
  }

 private:
  std::size_t n_clusters() const { return static_cast<std::size_t>(options_.n_clusters); }

  /// Collective.
  Found cluster(const ScaledRows& rows, const SumUnits& units, const Spread& spread, std::uint64_t seed,
                const algorithm::Run& run) const {
    const auto n_most = static_cast<std::size_t>(options_.max_iterations);
    run.progress.report({"train", 0, n_most, {}, "iteration"});
    Lloyd lloyd(rows, units, find_start(rows, n_clusters(), seed, run.comm, run.n_threads), run.comm, run.n_threads);
    const double least_shift = options_.tolerance *
                               std::accumulate(spread.variance.begin(), spread.variance.end(), 0.0) /
                               static_cast<double>(spread.variance.size());
    Found found;
    while (found.n_iterations < n_most && !found.has_converged && !found.was_stopped) {
      const Iteration done = lloyd.iterate();
      ++found.n_iterations;
      const double moved = static_cast<double>(done.n_moved) / static_cast<double>(rows.n_global_rows());
      run.progress.report(
          {"train", static_cast<std::size_t>(found.n_iterations), n_most, {{"moved_rows", moved}}, "iteration"});
      found.has_converged = done.n_moved == 0 || done.shift <= least_shift;
      found.was_stopped = is_stopped(run);
    }
    measure(rows, lloyd, run, found);
    return found;
  }

  /// Collective.
  Found cluster_by_batches(const ScaledRows& rows, const SumUnits& units, const Spread& spread, double max_weight,
                           std::uint64_t seed, const algorithm::Run& run) const {
    const std::uint64_t n_rows = rows.n_global_rows();
    const std::uint64_t batch = std::min(options_.batch, n_rows);
    const std::uint64_t passes = static_cast<std::uint64_t>(options_.max_iterations);
    const std::uint64_t most_drawn = passes > kMostDrawn / n_rows ? kMostDrawn : passes * n_rows;
    const std::uint64_t n_most = (most_drawn + batch - 1) / batch;
    run.progress.report({"train", 0, n_most, {}, "iteration"});
    const std::size_t n_drawn = std::max<std::size_t>(std::min(3 * batch, kMostStart), 20 * n_clusters());
    MiniBatches batches(rows, spread.bound, max_weight,
                        find_start_of_drawn(rows, n_clusters(), n_drawn, seed, run.comm, run.n_threads),
                        {static_cast<std::size_t>(batch), options_.patience, n_most, seed}, run.comm, run.n_threads);
    Found found;
    while (batches.n_steps() < n_most && !found.has_converged && !found.was_stopped) {
      batches.step();
      found.has_converged = batches.has_converged();
      if (batches.n_steps() % kReportedSteps != 0 && batches.n_steps() < n_most && !found.has_converged) continue;
      run.progress.report(
          {"train", batches.n_steps(), n_most, {{"mean_distance", batches.mean_distance()}}, "iteration"});
      found.was_stopped = is_stopped(run);
    }
    found.n_iterations = batches.n_steps();
    Lloyd lloyd(rows, units, batches.centroids(), run.comm, run.n_threads);
    measure(rows, lloyd, run, found);
    return found;
  }

  /// Of all rows, and centroids that may have moved since. Collective.
  static void measure(const ScaledRows& rows, Lloyd& lloyd, const algorithm::Run& run, Found& found) {
    lloyd.find_clusters();
    found.centroids = lloyd.centroids();
    found.weights = lloyd.weights();
    found.loss = inertia(rows, found.centroids, run.comm, run.n_threads);
  }

  algorithm::Trained trained(const table::Schema& schema, const Units& units, Found found) const {
    const std::size_t n_empty = static_cast<std::size_t>(std::ranges::count(found.weights, 0.0));
    Json facts = {{"clusters", n_clusters()},
                  {"iterations", found.n_iterations},
                  {"has_converged", found.has_converged},
                  {"cluster_weights", found.weights},
                  {"empty_clusters", n_empty}};
    if (found.was_stopped) facts["was_stopped"] = true;
    table::Schema of_model = schema;
    of_model.label.reset();
    of_model.classes.clear();
    auto model = std::make_unique<KmeansModel>(KmeansModel::Parts{
        std::move(of_model), units, options_.standardize, std::move(found.centroids), std::move(found.weights)});
    facts["inertia"] = found.loss / model->square_factor();
    return {std::move(model), std::move(facts)};
  }

  KmeansOptions options_;
};

class Kmeans final : public algorithm::Algorithm {
 public:
  std::string name() const override { return "kmeans"; }
  std::string summary() const override { return "K-means: clusters of rows around centroids; no labels are needed"; }
  std::vector<algorithm::DescribedOption> options() const override {
    return algorithm::described_options<KmeansOptions>();
  }
  std::unique_ptr<const algorithm::Trainer> trainer(const Json& given) const override {
    KmeansOptions options;
    read_json(given, "options", options);
    return std::make_unique<KmeansTrainer>(options);
  }
  bool is_model(const std::string& text) const override { return is_of_kind(text, kKmeansKind); }
  std::unique_ptr<const algorithm::Model> read_model(const std::string& text, const std::string& name) const override {
    return KmeansModel::from_text(text, name);
  }
};

}  // namespace

const algorithm::Algorithm& kmeans() {
  static const Kmeans kKmeans;
  return kKmeans;
}

}  // namespace podere::cluster
