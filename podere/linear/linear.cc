#include "podere/linear/linear.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/json_fields.h"
#include "podere/io/memory_room.h"
#include "podere/linear/least_squares.h"
#include "podere/linear/linear_model.h"
#include "podere/table/check_numbers.h"

namespace podere::linear {
namespace {

constexpr std::size_t kMostFeatures = 5000;

struct Options {
  double l2 = 0;
  bool standardize = false;

  static void visit_fields(auto& self, auto&& visit) {
    visit("l2", self.l2, "Ridge: this times the sum of the squared coefficients is added to the sum of squared errors");
    visit("standardize", self.standardize,
          "Measure coefficients, for --l2, as if each feature had the standard deviation 1");
  }
};

void check_features(const table::Schema& schema) {
  table::check_features_are_numbers(schema, "linear regression");
  if (schema.features.size() <= kMostFeatures) return;
  throw_input_error("the table has {} features, allowed are {}", schema.features.size(), kMostFeatures);
}

class LinearTrainer final : public algorithm::Trainer {
 public:
  explicit LinearTrainer(const Options& options) : options_(options) {
    if (!std::isfinite(options.l2) || options.l2 < 0) {
      throw_input_error("l2 is {}, allowed are finite numbers from 0", options.l2);
    }
  }

  std::string objective() const override { return "squared-error"; }
  table::LabelRules label_rules() const override { return {}; }
  std::string objective_option() const override { return "linear regression"; }
  std::string option_for_numbers() const override { return "podere train linear"; }

  algorithm::Trained train(const table::RowSource& source, const table::Table* /*validation*/,
                           const algorithm::Run& run) const override {
    const table::Table& table = source.labels();
    check_features(table.schema());
    const Rows rows = checked_rows(table, "linear models need", run.comm, run.n_threads);
    io::check_memory({fmt::format("products of all pairs of {} features", rows.n_features()),
                      least_squares_bytes(rows.n_features(), run.n_threads), "use fewer --cores or fewer features"},
                     run.comm);
    run.progress.report({"train", 0, 1, {}, "pass"});
    LeastSquares found = solve_least_squares(rows, {options_.l2, options_.standardize}, run.comm, run.n_threads);
    run.progress.report({"train", 1, 1, {}, "pass"});
    const std::size_t n = rows.n_features();
    if (found.rank < n && run.comm.is_root()) {
      run.progress.warn(
          fmt::format("only {} of {} features are independent of each other: of all coefficients that are "
                      "as good, these are the smallest; --l2, or --drop, chooses others",
                      found.rank, n));
    }
    Json facts = {{"rank", found.rank},
                  {"root_mean_squared_error", std::sqrt(found.squared_error)},
                  {"r2", found.variance > 0 ? Json(1 - found.squared_error / found.variance) : Json()},
                  {"largest_cosine", found.largest_cosine}};
    return {std::make_unique<LinearModel>(table.schema(), std::move(found.coefficients), found.intercept),
            std::move(facts)};
  }

 private:
  Options options_;
};

class LinearRegression final : public algorithm::Algorithm {
 public:
  std::string name() const override { return "linear"; }
  std::string summary() const override { return "Linear regression of numbers: least squares, or ridge by --l2"; }
  std::vector<algorithm::DescribedOption> options() const override { return algorithm::described_options<Options>(); }
  std::unique_ptr<const algorithm::Trainer> trainer(const Json& given) const override {
    Options options;
    read_json(given, "options", options);
    return std::make_unique<LinearTrainer>(options);
  }
  bool is_model(const std::string& text) const override { return is_of_kind(text, kLinearKind); }
  std::unique_ptr<const algorithm::Model> read_model(const std::string& text, const std::string& name) const override {
    return LinearModel::from_text(text, name);
  }
};

}  // namespace

const algorithm::Algorithm& linear_regression() {
  static const LinearRegression kLinear;
  return kLinear;
}

}  // namespace podere::linear
