#include "podere/linear/kernel_ridge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "podere/base/enum_names.h"
#include "podere/base/error.h"
#include "podere/base/exact_sum.h"
#include "podere/base/json_fields.h"
#include "podere/base/parallel.h"
#include "podere/comm/exact_reduce.h"
#include "podere/io/memory_room.h"
#include "podere/linear/conjugate_gradients.h"
#include "podere/linear/kernel_model.h"
#include "podere/linear/least_squares.h"
#include "podere/table/check_numbers.h"

namespace podere::linear {

/// kCholesky sums products of all pairs of random features once; kCg goes through the rows once an iteration.
enum class Solver { kAuto, kCholesky, kCg };
constexpr EnumNames<3> names_of(Solver /*enumeration*/) { return {"solver", {"auto", "cholesky", "cg"}}; }
using podere::to_string;

namespace {

constexpr std::size_t kMostByCholesky = 20'000;    // 16 n^2 bytes on each thread, and 40 for all
constexpr std::size_t kUsuallyByCholesky = 5'000;  // beyond, iterations are quicker (docs/linear.md)
constexpr double kUnlikeWidths = 100;

struct KernelOptions {
  int random_features = 1000;
  double gamma = 0;
  double l2 = 1;
  bool standardize = false;
  Solver solver = Solver::kAuto;
  double tolerance = 1e-4;
  int max_iterations = 1000;
  std::uint64_t seed = 0;

  static void visit_fields(auto& self, auto&& visit) {
    visit("random_features", self.random_features, "Random features that stand for the kernel: more are nearer to it");
    visit("gamma", self.gamma,
          "Of the kernel exp(-gamma |x - x'|^2); 0: 1 / (features * variance of their values), which is printed");
    visit("l2", self.l2, "Ridge: this times the sum of the squared coefficients is added to the sum of squared errors");
    visit("standardize", self.standardize, "Divide each feature by its standard deviation");
    visit("solver", self.solver,
          "cholesky: products of all pairs of random features, once; cg: conjugate gradients, a pass over the rows an "
          "iteration; auto: cholesky for up to 5000");
    visit("tolerance", self.tolerance, "cg stops once the gradient is this share of that at the start");
    visit("max_iterations", self.max_iterations, "Iterations of cg at most");
    visit("seed", self.seed, "Of the random features");
  }
};

void check_least(const std::string& name, double value, double least) {
  if (std::isfinite(value) && value >= least) return;
  throw_input_error("{} is {}, allowed are finite numbers from {}", name, value, least);
}

/// Weighted standard deviations about the means. Collective.
std::vector<double> deviations_of(const Rows& rows, const Scales& scales, const comm::Communicator& comm,
                                  int n_threads) {
  const std::size_t n = rows.n_features();
  std::vector<ExactSum> sums(n + 1);  // the sum of the weights last
  parallel_for(n_threads, n, [&](std::size_t j, int) {
    for (std::size_t i = 0; i < rows.n_rows(); ++i) {
      const double away = double{rows.columns[j][i]} - scales.shift[static_cast<Eigen::Index>(j)];
      sums[j].add(double{rows.weight_of(i)} * (away * away));
    }
  });
  for (std::size_t i = 0; i < rows.n_rows(); ++i) sums[n].add(double{rows.weight_of(i)});
  comm::all_reduce(comm, std::span(sums));
  std::vector<double> deviations(n);
  for (std::size_t j = 0; j < n; ++j) deviations[j] = std::sqrt(sums[j].value() / sums[n].value());
  return deviations;
}

/// 1 / (features * variance of their values), as scikit-learn's "scale".
double usual_gamma(const std::vector<double>& means, const std::vector<double>& deviations) {
  const auto n = static_cast<double>(means.size());
  double mean = 0;
  for (const double of_feature : means) mean += of_feature / n;
  double sum = 0;
  for (std::size_t j = 0; j < means.size(); ++j) {
    sum += deviations[j] * deviations[j] + (means[j] - mean) * (means[j] - mean);
  }
  return sum > 0 ? 1 / sum : 1;
}

/// Those of cosines, in place of features.
Scales scales_of_cosines(const Scales& scales, Eigen::Index n) {
  Scales result{Eigen::VectorXd::Zero(n + 1), Eigen::VectorXd::Ones(n + 1), scales.largest_weight};
  result.shift[n] = scales.shift[scales.shift.size() - 1];
  result.factor[n] = scales.factor[scales.factor.size() - 1];
  return result;
}

class KernelTrainer final : public algorithm::Trainer {
 public:
  explicit KernelTrainer(const KernelOptions& options) : options_(options) {
    if (options.random_features < 1) check_map_size(0, 0);
    check_map_size(n_random(), 1);
    check_least("gamma", options.gamma, 0);
    check_least("l2", options.l2, 0);
    check_least("tolerance", options.tolerance, 0);
    check_least("max-iterations", options.max_iterations, 1);
    if (options.solver != Solver::kCholesky || n_random() <= kMostByCholesky) return;
    throw_input_error("solver is cholesky, allowed with more than {} random features is cg", kMostByCholesky);
  }

  std::string objective() const override { return "squared-error"; }
  table::LabelRules label_rules() const override { return {}; }
  std::string objective_option() const override { return "kernel ridge regression"; }
  std::string option_for_numbers() const override { return "podere train kernel-ridge"; }

  algorithm::Trained train(const table::RowSource& source, const table::Table* /*validation*/,
                           const algorithm::Run& run) const override {
    const table::Table& table = source.labels();
    table::check_features_are_numbers(table.schema(), "kernel ridge regression");
    check_map_size(n_random(), table.n_features());
    const Rows rows = checked_rows(table, "kernel ridge needs", run.comm, run.n_threads);
    const Scales scales = measure_scales(rows, run.comm, run.n_threads);
    const FeatureMap map = choose_map(rows, scales, run);
    const RandomFeatures features(map);
    const Scales of_cosines = scales_of_cosines(scales, static_cast<Eigen::Index>(n_random()));
    const auto blocks = scaled_blocks(rows, of_cosines, n_random(),
                                      [&](std::size_t begin, std::size_t end, double* values, std::size_t stride) {
                                        features.compute(rows.columns, begin, end, values, stride);
                                      });
    Json facts = {{"random_features", n_random()}, {"gamma", map.gamma}, {"solver", to_string(solver())}};
    LeastSquares found = solver() == Solver::kCholesky ? by_cholesky(blocks, of_cosines, run, facts)
                                                       : by_cg(blocks, of_cosines, run, facts);
    facts["root_mean_squared_error"] = std::sqrt(found.squared_error);
    facts["r2"] = found.variance > 0 ? Json(1 - found.squared_error / found.variance) : Json();
    return {std::make_unique<KernelModel>(KernelModel::Parts{table.schema(), map, std::move(found.coefficients),
                                                             found.intercept, facts["passes"]}),
            std::move(facts)};
  }

 private:
  std::size_t n_random() const { return static_cast<std::size_t>(options_.random_features); }
  Solver solver() const {
    if (options_.solver != Solver::kAuto) return options_.solver;
    return n_random() <= kUsuallyByCholesky ? Solver::kCholesky : Solver::kCg;
  }
  /// Coefficients are those of features sqrt(2 / n) cos: of cosines they are sqrt(2 / n) as large.
  double l2_of_cosines() const { return options_.l2 * static_cast<double>(n_random()) / 2; }

  /// Collective.
  FeatureMap choose_map(const Rows& rows, const Scales& scales, const algorithm::Run& run) const {
    const std::size_t n = rows.n_features();
    std::vector<double> deviations = deviations_of(rows, scales, run.comm, run.n_threads);
    FeatureMap map{.seed = options_.seed,
                   .n_outputs = n_random(),
                   .gamma = options_.gamma,
                   .shift = std::vector<double>(scales.shift.begin(), scales.shift.begin() + static_cast<long>(n)),
                   .factor = std::vector<double>(n, 1.0)};
    std::vector<double> means = map.shift;
    if (options_.standardize) {
      std::ranges::fill(means, 0.0);
      for (std::size_t j = 0; j < n; ++j) {
        if (deviations[j] > 0) map.factor[j] = 1 / deviations[j];
        deviations[j] = deviations[j] > 0 ? 1 : 0;
      }
    } else if (run.comm.is_root()) {
      warn_of_units(deviations, run.progress);
    }
    if (map.gamma == 0) map.gamma = usual_gamma(means, deviations);
    return map;
  }

  static void warn_of_units(std::vector<double> deviations, Progress& progress) {
    std::erase(deviations, 0.0);
    if (deviations.empty()) return;
    const auto [least, most] = std::ranges::minmax(deviations);
    if (most <= kUnlikeWidths * least) return;
    progress.warn(
        fmt::format("standard deviations of features are from {:.3g} to {:.3g}, and the small ones hardly "
                    "count for the kernel: --standardize makes them alike",
                    least, most));
  }

  LeastSquares by_cholesky(const linalg::RowBlocks& blocks, const Scales& scales, const algorithm::Run& run,
                           Json& facts) const {
    io::check_memory(
        {fmt::format("products of all pairs of {} random features", n_random()),
         least_squares_bytes(n_random(), run.n_threads), "use --solver cg, fewer --cores or fewer --random-features"},
        run.comm);
    run.progress.report({"train", 0, 1, {}, "pass"});
    LeastSquares found = solve_least_squares(blocks, scales, {.l2 = l2_of_cosines()}, run.comm, run.n_threads);
    run.progress.report({"train", 1, 1, {}, "pass"});
    facts["passes"] = 1 + kPasses;
    facts["rank"] = found.rank;
    facts["largest_cosine"] = found.largest_cosine;
    return found;
  }

  LeastSquares by_cg(const linalg::RowBlocks& blocks, const Scales& scales, const algorithm::Run& run,
                     Json& facts) const {
    const auto n_most = static_cast<std::size_t>(options_.max_iterations);
    run.progress.report({"train", 0, n_most, {}, "pass"});
    CgResult result = conjugate_gradients(
        blocks, scales, {l2_of_cosines(), options_.tolerance, options_.max_iterations}, run.comm, run.n_threads,
        [&](int n_iterations, double residual) {
          run.progress.report(
              {"train", static_cast<std::size_t>(n_iterations), n_most, {{"residual", residual}}, "pass"});
          return !run.progress.stop_requested();
        });
    if (!result.has_converged && !result.was_stopped && run.comm.is_root()) {
      run.progress.warn(fmt::format(
          "conjugate gradients have not converged after {} iterations: the gradient is {:.2g} of that at the "
          "start; raise --max-iterations, or --l2",
          result.n_iterations, result.residual));
    }
    facts["passes"] = result.n_passes;
    facts["residual"] = result.residual;
    facts["has_converged"] = result.has_converged;
    if (result.was_stopped) facts["was_stopped"] = true;
    return std::move(result.found);
  }

  KernelOptions options_;
};

class KernelRidge final : public algorithm::Algorithm {
 public:
  std::string name() const override { return "kernel-ridge"; }
  std::string summary() const override {
    return "Kernel ridge regression of numbers, by random Fourier features of a Gaussian kernel";
  }
  std::vector<algorithm::DescribedOption> options() const override {
    return algorithm::described_options<KernelOptions>();
  }
  std::unique_ptr<const algorithm::Trainer> trainer(const Json& given) const override {
    KernelOptions options;
    read_json(given, "options", options);
    return std::make_unique<KernelTrainer>(options);
  }
  bool is_model(const std::string& text) const override { return is_of_kind(text, kKernelRidgeKind); }
  std::unique_ptr<const algorithm::Model> read_model(const std::string& text, const std::string& name) const override {
    return KernelModel::from_text(text, name);
  }
};

}  // namespace

const algorithm::Algorithm& kernel_ridge() {
  static const KernelRidge kKernelRidge;
  return kKernelRidge;
}

}  // namespace podere::linear
