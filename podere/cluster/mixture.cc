#include "podere/cluster/mixture.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/base/json_fields.h"
#include "podere/cluster/clustering.h"
#include "podere/cluster/expectation.h"
#include "podere/cluster/mixture_model.h"
#include "podere/cluster/seeding.h"
#include "podere/table/check_numbers.h"

namespace podere::cluster {
namespace {

constexpr int kMostGaussians = 10'000;
constexpr int kStartIterations = 20;  // of k-means, which begins each start

struct MixtureOptions {
  int n_clusters = 8;
  Covariance covariance = Covariance::kFull;
  int max_iterations = 100;
  double tolerance = 1e-3;
  double regularization = 1e-6;
  int restarts = 1;
  std::uint64_t seed = 0;

  static void visit_fields(auto& self, auto&& visit) {
    visit("n_clusters", self.n_clusters, "Clusters, each a Gaussian");
    visit("covariance", self.covariance, "Shapes: full, tied (the same for all), diagonal or spherical");
    visit("max_iterations", self.max_iterations, "Iterations at most");
    visit("tolerance", self.tolerance, "Stop once the mean log-likelihood of a row grows by less");
    visit("regularization", self.regularization, "Added to each variance, as a share of the feature's");
    visit("restarts", self.restarts, "Begin so many times, and keep the most likely clusters");
    visit("seed", self.seed, "Of the random numbers");
  }
};

/// Clusters of one start.
struct FoundMixture {
  Gaussians gaussians;
  double log_likelihood = 0;  ///< in units
  double loss = 0;            ///< less it
  int n_iterations = 0;
  bool has_converged = false;
  bool was_stopped = false;
};

class MixtureTrainer final : public algorithm::Trainer {
 public:
  explicit MixtureTrainer(const MixtureOptions& options) : options_(options) {
    check_range("clusters", options.n_clusters, 1, kMostGaussians);
    check_range("max-iterations", options.max_iterations, 1, kMostIterations);
    check_range("restarts", options.restarts, 1, kMostRestarts);
    check_share("tolerance", options.tolerance);
    check_share("regularization", options.regularization);
  }

  std::string objective() const override { return "log-likelihood"; }
  table::LabelRules label_rules() const override { return {table::LabelKind::kNone, n_clusters(), {}, ""}; }
  std::string objective_option() const override { return "mixture"; }

  algorithm::Trained train(const table::RowSource& source, const table::Table* /*validation*/,
                           const algorithm::Run& run) const override {
    const table::Table& table = source.labels();
    table::check_features_are_numbers(table.schema(), "a mixture");
    check_row_count("clusters", options_.n_clusters, table.n_global_rows());
    const Spread spread = measure_spread(table, true, run.comm, run.n_threads);
    const ScaledRows rows(table, spread.units);
    const ExpectationPasses passes(rows, *std::ranges::max_element(spread.bound), options_.covariance,
                                   options_.regularization, run.comm, run.n_threads);
    const SumUnits units(spread.bound, largest_weight(table, run.comm), table.n_global_rows());
    FoundMixture best =
        best_of_starts(options_.restarts, [&](int start) { return find(rows, units, passes, start, run); });
    return trained(table.schema(), spread.units, passes.total_weight(), std::move(best));
  }

 private:
  std::size_t n_clusters() const { return static_cast<std::size_t>(options_.n_clusters); }

  Centroids find_centroids(const ScaledRows& rows, const SumUnits& units, int start, const algorithm::Run& run) const {
    const std::uint64_t seed = hash64(options_.seed, 0, static_cast<std::uint64_t>(start));
    Lloyd lloyd(rows, units, find_start(rows, n_clusters(), seed, run.comm, run.n_threads), run.comm, run.n_threads);
    for (int i = 0; i < kStartIterations && lloyd.iterate().n_moved > 0; ++i) {
    }
    return lloyd.centroids();
  }

  /// Collective.
  FoundMixture find(const ScaledRows& rows, const SumUnits& units, const ExpectationPasses& passes, int start,
                    const algorithm::Run& run) const {
    const auto n_most = static_cast<std::size_t>(options_.max_iterations);
    run.progress.report({"train", 0, n_most, {}, "iteration"});
    FoundMixture found{.gaussians = passes.begin(find_centroids(rows, units, start, run)).gaussians};
    while (found.n_iterations < options_.max_iterations && !found.has_converged && !found.was_stopped) {
      Expectation done = passes.improve(found.gaussians);  // its likelihood is that of the Gaussians before
      const double gain = done.log_likelihood - found.log_likelihood;
      found.has_converged = found.n_iterations > 0 && gain < options_.tolerance;
      found.log_likelihood = done.log_likelihood;
      found.gaussians = std::move(done.gaussians);
      ++found.n_iterations;
      run.progress.report({"train",
                           static_cast<std::size_t>(found.n_iterations),
                           n_most,
                           {{"log_likelihood", found.log_likelihood}},
                           "iteration"});
      found.was_stopped = is_stopped(run);
    }
    found.log_likelihood = mean_log_likelihood(rows, found.gaussians, run.comm, run.n_threads).mean;
    found.loss = -found.log_likelihood;
    return found;
  }

  algorithm::Trained trained(const table::Schema& schema, const Units& units, double total_weight,
                             FoundMixture found) const {
    table::Schema of_model = schema;
    of_model.label.reset();
    of_model.classes.clear();
    Json facts = {{"clusters", n_clusters()},
                  {"iterations", found.n_iterations},
                  {"has_converged", found.has_converged},
                  {"cluster_weights", found.gaussians.weights},
                  {"empty_clusters", std::ranges::count(found.gaussians.weights, 0.0)}};
    if (found.was_stopped) facts["was_stopped"] = true;
    const std::size_t n_free = found.gaussians.n_free();
    auto model = std::make_unique<MixtureModel>(std::move(of_model), units, std::move(found.gaussians));
    const double log_likelihood = found.log_likelihood + model->log_factor();
    facts["log_likelihood"] = log_likelihood;
    facts["bic"] = bic(log_likelihood, total_weight, n_free);
    facts["aic"] = aic(log_likelihood, total_weight, n_free);
    return {std::move(model), std::move(facts)};
  }

  MixtureOptions options_;
};

class GaussianMixture final : public algorithm::Algorithm {
 public:
  std::string name() const override { return "mixture"; }
  std::string summary() const override {
    return "Mixture of Gaussians: clusters with shapes and probabilities; no labels are needed";
  }
  std::vector<algorithm::DescribedOption> options() const override {
    return algorithm::described_options<MixtureOptions>();
  }
  std::unique_ptr<const algorithm::Trainer> trainer(const Json& given) const override {
    MixtureOptions options;
    read_json(given, "options", options);
    return std::make_unique<MixtureTrainer>(options);
  }
  bool is_model(const std::string& text) const override { return is_of_kind(text, kMixtureKind); }
  std::unique_ptr<const algorithm::Model> read_model(const std::string& text, const std::string& name) const override {
    return MixtureModel::from_text(text, name);
  }
};

}  // namespace

const algorithm::Algorithm& mixture() {
  static const GaussianMixture kMixture;
  return kMixture;
}

}  // namespace podere::cluster
