#include "examples/nearest_centroid/nearest_centroid.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "podere/algorithm/softmax.h"
#include "podere/base/checked_json.h"
#include "podere/base/error.h"
#include "podere/base/exact_sum.h"
#include "podere/base/parallel.h"
#include "podere/comm/exact_reduce.h"
#include "podere/table/features.h"
#include "podere/table/schema_json.h"

namespace podere::examples {
namespace {

constexpr CheckedJsonKind kKind{"podere-nearest-centroid", "a model of nearest centroids", 1};
constexpr int kMaxClasses = 1000;
constexpr double kLeastMargin = -1e30;  // is a float

struct Options {
  int n_classes = 0;

  static void visit_fields(auto& self, auto&& visit) {
    visit("n_classes", self.n_classes, "Classes; 0: the largest label plus one");
  }
};

/// Missing values are left out of means and distances, infinite ones of distances.
class CentroidModel final : public algorithm::Model {
 public:
  /// `centroids` [n_classes][n_features].
  CentroidModel(table::Schema schema, std::vector<std::vector<double>> centroids)
      : schema_(std::move(schema)), centroids_(std::move(centroids)) {}

  std::string what() const override { return "nearest centroids"; }
  const table::Schema& schema() const override { return schema_; }
  std::string objective() const override { return "nearest-centroid"; }
  table::LabelRules label_rules() const override { return {table::LabelKind::kClasses, n_outputs(), {}, ""}; }
  std::size_t n_outputs() const override { return centroids_.size(); }

  /// Half of what a squared distance is beyond the least of the row, negated: logarithms of the odds of classes.
  std::vector<float> margins(const table::Table& table, int n_threads) const override {
    const auto columns = table::feature_columns(schema_, table);
    const std::size_t n_rows = table.n_rows();
    std::vector<float> margins(n_outputs() * n_rows);
    parallel_for_slices(n_threads, n_rows, table::kBlockRows, [&](std::size_t begin, std::size_t end, int) {
      std::vector<double> distances(n_outputs());
      for (std::size_t i = begin; i < end; ++i) {
        for (std::size_t k = 0; k < n_outputs(); ++k) distances[k] = squared_distance(columns, i, k);
        const double least = *std::ranges::min_element(distances);
        for (std::size_t k = 0; k < n_outputs(); ++k) {
          margins[k * n_rows + i] = static_cast<float>(std::max((least - distances[k]) / 2, kLeastMargin));
        }
      }
    });
    return margins;
  }
  std::vector<float> predictions(std::vector<float> margins, int /*n_threads*/) const override {
    return algorithm::softmax(std::move(margins), n_outputs());
  }

  std::string to_text() const override {
    return checked_json_text(kKind, 1, {{"schema", to_json(schema_)}, {"centroids", centroids_}});
  }
  algorithm::Description describe() const override {
    algorithm::Description description{
        .facts = {{"objective", objective()}, {"classes", n_outputs()}, {"features", schema_.features.size()}},
        .head = {"feature"}};
    for (std::size_t k = 0; k < n_outputs(); ++k) description.head.push_back("class " + std::to_string(k));
    for (std::size_t j = 0; j < schema_.features.size(); ++j) {
      description.lines.push_back({schema_.features[j]});
      for (const auto& centroid : centroids_) description.lines.back().push_back(centroid[j]);
    }
    description.json = {{"objective", objective()}, {"features", schema_.features}, {"centroids", centroids_}};
    return description;
  }

 private:
  double squared_distance(std::span<const std::span<const float>> columns, std::size_t row, std::size_t k) const {
    double sum = 0;
    for (std::size_t j = 0; j < columns.size(); ++j) {
      const double distance = columns[j][row] - centroids_[k][j];
      if (std::isfinite(distance)) sum += distance * distance;
    }
    return sum;
  }

  table::Schema schema_;
  std::vector<std::vector<double>> centroids_;
};

class CentroidTrainer final : public algorithm::Trainer {
 public:
  explicit CentroidTrainer(const Options& options) : options_(options) {
    const bool is_allowed = options.n_classes == 0 || (options.n_classes >= 2 && options.n_classes <= kMaxClasses);
    if (!is_allowed) throw_input_error("classes is {}, allowed is 0 or 2 to {}", options.n_classes, kMaxClasses);
  }

  std::string objective() const override { return "nearest-centroid"; }
  table::LabelRules label_rules() const override {
    return {table::LabelKind::kClasses, static_cast<std::size_t>(options_.n_classes), {}, ""};
  }
  std::string objective_option() const override { return "centroid"; }

  algorithm::Trained train(const table::RowSource& rows, const table::Table* /*validation*/,
                           const algorithm::Run& run) const override {
    const table::Schema& schema = rows.schema();
    if (!schema.categories.empty()) throw InputError("nearest centroids take numbers, no categories");
    table::LabelRules rules = label_rules();
    if (rules.n_classes == 0) {
      rules.n_classes =
          static_cast<std::size_t>(table::count_classes(rows.labels(), kMaxClasses, "training", run.comm));
    }
    table::weigh_labels(rows.labels(), {}, 0, rules, "training", run.comm);  // checks them
    run.progress.report({"train", 0, 1, {}, "pass"});
    std::vector<std::vector<double>> centroids = means(rows, rules.n_classes, run);
    for (std::size_t j = 0; j < schema.features.size(); ++j) {
      for (const auto& centroid : centroids) {
        if (!std::isfinite(centroid[j]))
          throw_input_error("feature {}: a class has no finite mean", schema.features[j]);
      }
    }
    run.progress.report({"train", 1, 1, {}, "pass"});
    return {std::make_unique<CentroidModel>(schema, std::move(centroids)), Json::object()};
  }

 private:
  /// The weighted mean of each class and feature [n_classes][n_features]. Exact sums do not depend on how rows are
  /// shared out. Collective.
  static std::vector<std::vector<double>> means(const table::RowSource& rows, std::size_t n_classes,
                                                const algorithm::Run& run) {
    const std::size_t n_features = rows.schema().features.size();
    std::vector<ExactSum> sums(2 * n_classes * n_features);  // of values, of weights
    run.comm.agree([&] {
      rows.for_each_window([&](const table::Table& window) {
        parallel_for(run.n_threads, n_features, [&](std::size_t j, int) {
          for (std::size_t i = 0; i < window.n_rows(); ++i) {
            const float x = window.feature(j)[i];
            if (std::isnan(x)) continue;
            const auto k = static_cast<std::size_t>(window.label()[i]);
            const double weight = window.weight().empty() ? 1 : window.weight()[i];
            const std::size_t place = 2 * (k * n_features + j);
            sums[place].add(weight * x);
            sums[place + 1].add(weight);
          }
        });
      });
    });
    comm::all_reduce(run.comm, std::span(sums));
    std::vector<std::vector<double>> means(n_classes, std::vector<double>(n_features));
    for (std::size_t place = 0; place < sums.size(); place += 2) {
      means[place / 2 / n_features][place / 2 % n_features] = sums[place].value() / sums[place + 1].value();
    }
    return means;
  }

  Options options_;
};

class NearestCentroid final : public algorithm::Algorithm {
 public:
  std::string name() const override { return "centroid"; }
  algorithm::Abilities abilities() const override { return {.streams = true}; }
  std::string summary() const override { return "Nearest centroids: the class whose mean is nearest"; }
  std::vector<algorithm::DescribedOption> options() const override { return algorithm::described_options<Options>(); }
  std::unique_ptr<const algorithm::Trainer> trainer(const Json& given) const override {
    Options options;
    read_json(given, "options", options);
    return std::make_unique<CentroidTrainer>(options);
  }
  bool is_model(const std::string& text) const override { return is_of_kind(text, kKind); }
  std::unique_ptr<const algorithm::Model> read_model(const std::string& text, const std::string& name) const override {
    table::Schema schema;
    std::vector<std::vector<double>> centroids;
    read_checked_json(text, name, kKind, [&](const Json& content) {
      schema = table::schema_from_json(content.at("schema"));
      read_json(content.at("centroids"), "centroids", centroids);
      const auto fits = [&](const std::vector<double>& numbers) { return numbers.size() == schema.features.size(); };
      if (centroids.size() < 2 || !std::ranges::all_of(centroids, fits)) {
        throw InputError("its centroids do not fit its features");
      }
    });
    return std::make_unique<CentroidModel>(std::move(schema), std::move(centroids));
  }
};

}  // namespace

const algorithm::Algorithm& nearest_centroid() {
  static const NearestCentroid kCentroid;
  return kCentroid;
}

}  // namespace podere::examples
