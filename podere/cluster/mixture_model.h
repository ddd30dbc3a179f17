// A mixture of Gaussians as a model.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "podere/algorithm/model.h"
#include "podere/base/checked_json.h"
#include "podere/cluster/gaussians.h"
#include "podere/cluster/scaled_rows.h"

namespace podere::cluster {

inline constexpr CheckedJsonKind kMixtureKind{"podere-mixture", "a mixture of Gaussians", 1};

/// Margins of a cluster are the logarithms of its weight times its density, so that the logarithm of the sum of their
/// exponentials is that of the density of the row. Predictions are the probabilities of clusters.
class MixtureModel final : public algorithm::Model {
 public:
  MixtureModel(table::Schema schema, Units units, Gaussians gaussians);
  /// Throws InputError, beginning with `name`, for text that is not a whole model.
  static std::unique_ptr<const MixtureModel> from_text(const std::string& text, const std::string& name);

  std::string what() const override { return "a mixture of Gaussians"; }
  const table::Schema& schema() const override { return schema_; }
  std::string objective() const override { return "log-likelihood"; }
  table::LabelRules label_rules() const override { return {table::LabelKind::kNone, n_outputs(), {}, ""}; }
  std::size_t n_outputs() const override { return gaussians_.size(); }
  std::size_t n_parameters() const override { return gaussians_.n_free(); }
  std::vector<float> margins(const table::Table& table, int n_threads) const override;
  std::vector<float> predictions(std::vector<float> margins, int n_threads) const override;
  Json measures_of_rows(const table::Table& table, const comm::Communicator& comm, int n_threads) const override;
  std::string to_text() const override;
  algorithm::Description describe() const override;

  /// What is added to the logarithm of a density in units, so that it is one of the features.
  double log_factor() const;

 private:
  table::Schema schema_;
  Units units_;
  Gaussians gaussians_;  // in units
};

/// The Bayesian and Akaike's information criterion of a model with `n_free` numbers, for rows whose weights sum to
/// `n_rows`: the less, the better it is worth its numbers. Source: G. Schwarz, Ann. Statist. 6 (1978).
double bic(double mean_log_likelihood, double n_rows, std::size_t n_free);
double aic(double mean_log_likelihood, double n_rows, std::size_t n_free);

}  // namespace podere::cluster
