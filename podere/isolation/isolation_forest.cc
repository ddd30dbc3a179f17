#include "podere/isolation/isolation_forest.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/json_fields.h"
#include "podere/base/parallel.h"
#include "podere/isolation/forest_model.h"
#include "podere/isolation/grow.h"
#include "podere/isolation/samples.h"

namespace podere::isolation {
namespace {

constexpr int kMostTrees = 10'000;
constexpr int kMostRowsOfTrees = 5'000'000;                  // a model file of some 100 MB
constexpr std::size_t kMostValues = std::size_t{1} << 28;    // of one tree: 1 GiB on each executor
constexpr std::size_t kValuesAtOnce = std::size_t{1} << 24;  // of the trees that are grown at a time
constexpr double kMostShare = 0.5;

struct ForestOptions {
  int n_trees = 100;
  int sample = 256;
  double share = 0;
  std::uint64_t seed = 0;

  static void visit_fields(auto& self, auto&& visit) {
    visit("n_trees", self.n_trees, "Trees");
    visit("sample", self.sample, "Rows that each tree is grown of, at most");
    visit("share", self.share,
          "Share of the rows that are anomalies, which sets the threshold of the score; 0: the threshold is 0.5");
    visit("seed", self.seed, "Of the random numbers");
  }
};

void check(const ForestOptions& options) {
  if (options.n_trees < 1 || options.n_trees > kMostTrees) {
    throw_input_error("trees is {}, allowed is 1 to {}", options.n_trees, kMostTrees);
  }
  const int most = kMostRowsOfTrees / options.n_trees;
  if (options.sample < 2 || options.sample > most) {
    throw_input_error("sample is {}, allowed is 2 to {} with {} tree{}", options.sample, most, options.n_trees,
                      options.n_trees == 1 ? "" : "s");
  }
  if (!(options.share >= 0 && options.share <= kMostShare)) {
    throw_input_error("share is {}, allowed is 0 to {}", options.share, kMostShare);
  }
}

void check_table(const table::Schema& schema, std::uint64_t n_rows) {
  if (schema.features.empty()) throw InputError("the table has no features");
  check_has_no_weights(schema);
  if (n_rows < 2) throw_input_error("the table has {} row{}: 2 at least are needed", n_rows, n_rows == 1 ? "" : "s");
}

class ForestTrainer final : public algorithm::Trainer {
 public:
  explicit ForestTrainer(const ForestOptions& options) : options_(options) { check(options); }

  std::string objective() const override { return kObjective; }
  table::LabelRules label_rules() const override { return {table::LabelKind::kNone, 0, {}, ""}; }
  std::string objective_option() const override { return "isolation-forest"; }

  algorithm::Trained train(const table::RowSource& rows, const table::Table* /*validation*/,
                           const algorithm::Run& run) const override {
    const std::uint64_t n_rows = rows.labels().n_global_rows();
    check_table(rows.schema(), n_rows);
    ForestModel::Parts parts{.schema = rows.schema(), .trees = {}};
    parts.schema.label.reset();
    parts.schema.classes.clear();
    parts.n_sample = static_cast<std::size_t>(std::min(static_cast<std::uint64_t>(options_.sample), n_rows));
    parts.trees = grow_trees(rows, parts.n_sample, run);
    Json facts = {{"trees", parts.trees.size()}, {"sample", parts.n_sample}};
    if (parts.trees.size() < n_trees()) facts["was_stopped"] = true;
    if (options_.share > 0) {
      const std::vector<float> scores = scores_of(ForestModel(parts), rows, run);
      parts.threshold = score_quantile(scores, 1 - options_.share, run.comm, run.n_threads);
      const auto n_here = std::ranges::count_if(scores, [&](float score) { return double{score} > parts.threshold; });
      facts["anomalies"] = run.comm.all_reduce(static_cast<std::uint64_t>(n_here), comm::Reduction::kSum);
    }
    facts["threshold"] = parts.threshold;
    return {std::make_unique<ForestModel>(std::move(parts)), std::move(facts)};
  }

 private:
  std::size_t n_trees() const { return static_cast<std::size_t>(options_.n_trees); }

  /// Fewer than wanted where the user stops. All ranks grow all trees: their rows are few, wherever the table is.
  /// Collective.
  std::vector<tree::Tree> grow_trees(const table::RowSource& rows, std::size_t n_sample,
                                     const algorithm::Run& run) const {
    const table::Schema& schema = rows.schema();
    if (n_sample > kMostValues / schema.features.size()) {
      throw_input_error("sample is {}, allowed is 2 to {} with {} features", n_sample,
                        kMostValues / schema.features.size(), schema.features.size());
    }
    const std::size_t n_at_once = std::max<std::size_t>(1, kValuesAtOnce / (n_sample * schema.features.size()));
    std::vector<tree::Tree> trees;
    run.progress.report({"train", 0, n_trees(), {}, "tree"});
    while (trees.size() < n_trees()) {
      const std::size_t first = trees.size();
      const std::size_t n = std::min(n_at_once, n_trees() - first);
      const Samples samples = gather_samples(rows, options_.seed, first, n, n_sample, run.comm);
      trees.resize(first + n);
      run.comm.agree([&] {
        parallel_for(run.n_threads, n, [&](std::size_t t, int) {
          trees[first + t] = grow(samples, t, schema, options_.seed, first + t);
        });
      });
      run.progress.report({"train", trees.size(), n_trees(), {}, "tree"});
      std::int32_t is_stopped = run.progress.stop_requested() ? 1 : 0;
      run.comm.broadcast(std::span(&is_stopped, 1));
      if (is_stopped != 0) break;
    }
    return trees;
  }

  /// Of the rows here [n_rows]. Collective.
  static std::vector<float> scores_of(const ForestModel& model, const table::RowSource& rows,
                                      const algorithm::Run& run) {
    std::vector<float> scores;
    run.comm.agree([&] {
      rows.for_each_window([&](const table::Table& window) {
        const std::vector<float> of_window = model.scores(window, run.n_threads);
        scores.insert(scores.end(), of_window.begin(), of_window.end());
      });
    });
    return scores;
  }

  ForestOptions options_;
};

class IsolationForest final : public algorithm::Algorithm {
 public:
  std::string name() const override { return "isolation-forest"; }
  std::string summary() const override {
    return "Isolation forest: a score of how much of an anomaly each row is; no labels are needed";
  }
  std::vector<algorithm::DescribedOption> options() const override {
    return algorithm::described_options<ForestOptions>();
  }
  algorithm::Abilities abilities() const override { return {.streams = true}; }
  std::unique_ptr<const algorithm::Trainer> trainer(const Json& given) const override {
    ForestOptions options;
    read_json(given, "options", options);
    return std::make_unique<ForestTrainer>(options);
  }
  bool is_model(const std::string& text) const override { return is_of_kind(text, kForestKind); }
  std::unique_ptr<const algorithm::Model> read_model(const std::string& text, const std::string& name) const override {
    return ForestModel::from_text(text, name);
  }
};

}  // namespace

const algorithm::Algorithm& isolation_forest() {
  static const IsolationForest kForest;
  return kForest;
}

}  // namespace podere::isolation
