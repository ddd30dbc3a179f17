// A model of k-means.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "podere/algorithm/model.h"
#include "podere/base/checked_json.h"
#include "podere/cluster/lloyd.h"

namespace podere::cluster {

inline constexpr CheckedJsonKind kKmeansKind{"podere-kmeans", "a model of k-means", 1};

/// Margins of a cluster are minus the squared distance from its centroid, in units of the features or, if it
/// standardizes, of their standard deviations. Predictions are 1 for the nearest cluster, and 0 for the others.
class KmeansModel final : public algorithm::Model {
 public:
  struct Parts {
    table::Schema schema;
    Units units;
    bool standardizes = false;
    Centroids centroids;          ///< in units
    std::vector<double> weights;  ///< of the rows of each cluster that it was trained on
  };
  explicit KmeansModel(Parts parts);
  /// Throws InputError, beginning with `name`, for text that is not a whole model.
  static std::unique_ptr<const KmeansModel> from_text(const std::string& text, const std::string& name);

  std::string what() const override { return "k-means"; }
  const table::Schema& schema() const override { return parts_.schema; }
  std::string objective() const override { return "squared-distance"; }
  table::LabelRules label_rules() const override { return {table::LabelKind::kNone, n_outputs(), {}, ""}; }
  std::size_t n_outputs() const override { return parts_.centroids.size(); }
  std::size_t n_parameters() const override { return parts_.centroids.values.size(); }
  std::vector<float> margins(const table::Table& table, int n_threads) const override;
  std::vector<float> predictions(std::vector<float> margins, int n_threads) const override;
  Json measures_of_rows(const table::Table& table, const comm::Communicator& comm, int n_threads) const override;
  std::string to_text() const override;
  algorithm::Description describe() const override;

  /// By what a squared distance in units is divided to be one of the features.
  double square_factor() const;

 private:
  ScaledRows rows_of(const table::Table& table) const;
  /// The centroids in units of the features [n_clusters][n_features].
  std::vector<std::vector<double>> centers() const;

  Parts parts_;
};

}  // namespace podere::cluster
