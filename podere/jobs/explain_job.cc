// SHAP values as a table, written by all ranks side by side into one file, and what they say of each feature.
#include "podere/jobs/explain_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "podere/base/atomic_file.h"
#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/base/exact_sum.h"
#include "podere/base/parallel.h"
#include "podere/comm/exact_reduce.h"
#include "podere/io/write_csv.h"
#include "podere/jobs/job_context.h"
#include "podere/jobs/report_facts.h"
#include "podere/jobs/shap_points.h"
#include "podere/table/features.h"

namespace podere::jobs {
namespace {

// "+1.23456789e-01,": every number takes as much room, so that each row's place in the file is known beforehand and
// nothing but the rows in hand is in memory. Nine digits keep the sum of a row's values to 1e-8 of them.
constexpr std::size_t kNumberBytes = 16;
constexpr double kLeastShown = 1e-99;  // smaller ones would need a third digit in the exponent
constexpr std::size_t kValuesPerCall = 1 << 20;

/// "a,b,bias", or "class0:a,class0:b,class0:bias,class1:a,..." for several outputs.
std::string header_line(const algorithm::Model& model) {
  std::string line;
  for (std::size_t k = 0; k < model.n_outputs(); ++k) {
    const std::string block = model.n_outputs() > 1 ? fmt::format("class{}:", k) : "";
    for (const std::string& name : model.schema().features) line += io::field_of(block + name) + ",";
    line += block + "bias,";
  }
  line.back() = '\n';
  return line;
}

/// `values` [n_rows x n_columns] as lines.
std::string value_lines(std::span<const double> values, std::size_t n_columns) {
  std::string text;
  text.reserve(values.size() * kNumberBytes);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double shown = std::abs(values[i]) < kLeastShown ? 0.0 : values[i];
    fmt::format_to(std::back_inserter(text), "{:+.8e}{}", shown, (i + 1) % n_columns == 0 ? '\n' : ',');
  }
  return text;
}

/// Goes through the rows held here, block by block.
class Explanation {
 public:
  Explanation(const ExplainJob& job, const algorithm::Model& model, const algorithm::Explainable& explainable,
              const table::Table& table, int n_threads)
      : job_(job),
        explainable_(explainable),
        table_(table),
        n_threads_(n_threads),
        features_(table::feature_columns(model.schema(), table)),
        header_(header_line(model)),
        n_columns_(model.n_outputs() * (features_.size() + 1)),
        sums_(static_cast<std::size_t>(n_threads), std::vector<ExactSum>(n_columns_ + 1)) {}

  /// Writes the values, if asked for. Local.
  void run(bool is_root, Progress& progress) {
    if (is_root && !job_.output.empty()) write_into(job_.output, 0, header_);
    const std::size_t n_rows = table_.n_rows();
    if (n_rows == 0) progress.report({"explain", 0, 0, {}});
    const std::size_t batch = 8 * table::kBlockRows * static_cast<std::size_t>(n_threads_);
    for (std::size_t first = 0; first < n_rows; first += batch) {
      progress.report({"explain", first, n_rows, {}});
      const std::size_t n = std::min(batch, n_rows - first);
      parallel_for_slices(n_threads_, n, table::kBlockRows, [&](std::size_t begin, std::size_t end, int thread) {
        explain_block(first + begin, first + end, sums_[static_cast<std::size_t>(thread)]);
      });
    }
  }

  /// Mean absolute values over the rows of all ranks, by weight [n_columns]. Collective.
  std::vector<double> means(const comm::Communicator& comm) {
    std::vector<ExactSum> total(n_columns_ + 1);
    for (const auto& sums : sums_) {
      for (std::size_t c = 0; c < total.size(); ++c) total[c].add(sums[c]);
    }
    comm::all_reduce(comm, std::span(total));
    std::vector<double> result;
    for (std::size_t c = 0; c < n_columns_; ++c) result.push_back(total[c].value() / total[n_columns_].value());
    return result;
  }

 private:
  /// Sums are in the order of the rows within a row block, and exact from there on.
  void explain_block(std::size_t begin, std::size_t end, std::vector<ExactSum>& sums) const {
    std::vector<double> block(n_columns_ + 1);
    const std::size_t step = std::clamp<std::size_t>(kValuesPerCall / n_columns_, 1, table::kBlockRows);
    std::vector<double> values;
    for (std::size_t first = begin; first < end; first += step) {
      const std::size_t n = std::min(step, end - first);
      values.resize(n * n_columns_);
      explainable_.shap_values(features_, first, first + n, values);
      for (std::size_t i = 0; i < n; ++i) {
        const double weight = table_.weight().empty() ? 1 : table_.weight()[first + i];
        for (std::size_t c = 0; c < n_columns_; ++c) block[c] += weight * std::abs(values[i * n_columns_ + c]);
        block[n_columns_] += weight;
      }
      if (job_.output.empty()) continue;
      const std::size_t row = table_.global({first}).value;
      write_into(job_.output, header_.size() + row * n_columns_ * kNumberBytes, value_lines(values, n_columns_));
    }
    for (std::size_t c = 0; c < sums.size(); ++c) sums[c].add(block[c]);
  }

  const ExplainJob& job_;
  const algorithm::Explainable& explainable_;
  const table::Table& table_;
  int n_threads_;
  std::vector<std::span<const float>> features_;
  std::string header_;
  std::size_t n_columns_;                    // of the values
  std::vector<std::vector<ExactSum>> sums_;  // [n_threads x (n_columns + 1)], the sum of weights at the end
};

void check_weights(const table::Table& table) {
  for (std::size_t i = 0; i < table.weight().size(); ++i) {
    if (!std::isfinite(table.weight()[i])) {
      throw_input_error("weight of row {} is {}, allowed is a finite number", table.global({i}).value,
                        table.weight()[i]);
    }
  }
}

/// `means` [n_outputs x (n_features + 1)].
Json features_of(const algorithm::Model& model, const std::vector<double>& means) {
  const std::size_t n_features = model.schema().features.size();
  Json features = Json::array();
  for (std::size_t j = 0; j < n_features; ++j) {
    double sum = 0;
    Json by_class = Json::array();
    for (std::size_t k = 0; k < model.n_outputs(); ++k) {
      by_class.push_back(means[k * (n_features + 1) + j]);
      sum += means[k * (n_features + 1) + j];
    }
    features.push_back({{"name", model.schema().features[j]}, {"mean_abs_shap", sum}});
    if (model.n_outputs() > 1) features.back()["mean_abs_shap_by_class"] = std::move(by_class);
  }
  return features;
}

void add_permutation(const algorithm::PermutationImportance& importance, Json& result) {
  result["measure"] = importance.measure;
  result["baseline"] = importance.baseline;
  for (std::size_t j = 0; j < importance.mean.size(); ++j) {
    result["features"][j]["permutation_mean"] = importance.mean[j];
    result["features"][j]["permutation_std"] = importance.spread[j];
  }
}

}  // namespace

Json run(const ExplainJob& job, const JobContext& context) {
  const comm::Communicator& comm = context.comm;
  const int n_threads = context.n_threads;
  const bool needs_label = job.permutation_repeats != 0;
  const ModelAndTable loaded = load_model_and_table(job.model, 0, job.table, needs_label, context);
  const algorithm::Model& model = *loaded.model;
  const algorithm::Explainable& explainable = need_explainable(model, job.model);
  const table::Table& table = *loaded.table;
  Stopwatch watch;
  comm.agree([&] { check_weights(table); });

  Explanation explanation(job, model, explainable, table, n_threads);
  comm.agree([&] { explanation.run(comm.is_root(), context.progress); });
  if (!job.output.empty()) context.progress.count_rows(0, table.n_rows());
  const std::vector<double> means = explanation.means(comm);
  Json result = {{"rows", table.n_global_rows()},       {"objective", model.objective()},
                 {"bias", explainable.bias()},          {"features", features_of(model, means)},
                 {"load_seconds", loaded.load_seconds}, {"explain_seconds", watch.restart()}};
  if (needs_label) {
    add_permutation(
        explainable.permutation_importance(table, job.permutation_repeats, job.seed, comm, n_threads, context.progress),
        result);
    result["permutation_seconds"] = watch.seconds();
  }
  if (job.report) {
    result["report"] = {{"model", model_facts(comm, model)}};
    Json points = shap_points(comm, model, explainable, table, std::span(means).first(model.schema().features.size()));
    if (!points.is_null()) result["report"]["shap_points"] = std::move(points);
  }
  result["unknown_categories"] = loaded.facts.unknown;
  result.update(resources(comm, n_threads));
  return result;
}

}  // namespace podere::jobs
