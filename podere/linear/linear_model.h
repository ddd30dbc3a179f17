// A linear model of numbers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "podere/algorithm/model.h"
#include "podere/base/checked_json.h"

namespace podere::linear {

inline constexpr CheckedJsonKind kLinearKind{"podere-linear", "a linear model", 1};

/// Predicts the intercept and the sum of the features times their coefficients, in float64, rounded once.
class LinearModel final : public algorithm::Model {
 public:
  /// `coefficients` [n_features].
  LinearModel(table::Schema schema, std::vector<double> coefficients, double intercept);
  /// Throws InputError, beginning with `name`, for text that is not a whole model.
  static std::unique_ptr<const LinearModel> from_text(const std::string& text, const std::string& name);

  std::string what() const override { return "a linear model"; }
  const table::Schema& schema() const override { return schema_; }
  std::string objective() const override { return "squared-error"; }
  table::LabelRules label_rules() const override { return {}; }
  std::size_t n_outputs() const override { return 1; }
  std::size_t n_parameters() const override { return coefficients_.size() + 1; }
  std::vector<float> margins(const table::Table& table, int n_threads) const override;
  std::vector<float> predictions(std::vector<float> margins, int /*n_threads*/) const override { return margins; }
  std::string to_text() const override;
  algorithm::Description describe() const override;

 private:
  table::Schema schema_;
  std::vector<double> coefficients_;
  double intercept_;
};

}  // namespace podere::linear
