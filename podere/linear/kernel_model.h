// A model of numbers by random features.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "podere/algorithm/model.h"
#include "podere/base/checked_json.h"
#include "podere/linear/random_features.h"

namespace podere::linear {

inline constexpr CheckedJsonKind kKernelRidgeKind{"podere-kernel-ridge", "a model of kernel ridge regression", 1};

inline constexpr std::size_t kMostRandomFeatures = 100'000;

/// Throws InputError for more random features, times features, than memory is for.
void check_map_size(std::size_t n_random_features, std::size_t n_features);

/// Predicts the intercept and the sum of the random features times their coefficients, in float64, rounded once.
class KernelModel final : public algorithm::Model {
 public:
  struct Parts {
    table::Schema schema;
    FeatureMap map;
    std::vector<double> coefficients;  ///< [map.n_outputs] of cosines
    double intercept = 0;
    int n_passes = 0;  ///< over the rows, in which training made random features
  };

  explicit KernelModel(Parts parts);
  /// Throws InputError, beginning with `name`, for text that is not a whole model.
  static std::unique_ptr<const KernelModel> from_text(const std::string& text, const std::string& name);

  std::string what() const override { return "a kernel ridge model"; }
  const table::Schema& schema() const override { return parts_.schema; }
  std::string objective() const override { return "squared-error"; }
  table::LabelRules label_rules() const override { return {}; }
  std::size_t n_outputs() const override { return 1; }
  std::size_t n_parameters() const override { return parts_.coefficients.size() + 1; }
  std::vector<float> margins(const table::Table& table, int n_threads) const override;
  std::vector<float> predictions(std::vector<float> margins, int /*n_threads*/) const override { return margins; }
  std::string to_text() const override;
  algorithm::Description describe() const override;

 private:
  Parts parts_;
  RandomFeatures features_;
};

}  // namespace podere::linear
