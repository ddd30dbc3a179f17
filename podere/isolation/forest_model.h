// A model of isolation trees.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "podere/algorithm/model.h"
#include "podere/base/checked_json.h"
#include "podere/tree/model.h"

namespace podere::isolation {

inline constexpr CheckedJsonKind kForestKind{"podere-isolation-forest", "an isolation forest", 1};
inline constexpr const char* kObjective = "isolation";
inline constexpr double kUsualThreshold = 0.5;  ///< of rows that take as long to isolate as the mean of a sample

/// The score of a row is 2^(-E / c), where E is the mean length of its ways through the trees and c that of all rows of
/// a sample: near 1 for anomalies, 0.5 or less for others. Rows with a score above the threshold are anomalies.
///
/// There are two outputs: the margin of the first is the score minus the threshold, and its prediction 1 for anomalies
/// and 0 for others. The margin of the second is E, and its prediction the score.
class ForestModel final : public algorithm::Model {
 public:
  struct Parts {
    table::Schema schema;
    std::size_t n_sample = 0;  ///< rows that each tree was grown of, at least 2
    double threshold = kUsualThreshold;
    std::vector<tree::Tree> trees;  ///< whose leaves have lengths of ways
  };
  explicit ForestModel(Parts parts);
  /// Throws InputError, beginning with `name`, for text that is not a whole model.
  static std::unique_ptr<const ForestModel> from_text(const std::string& text, const std::string& name);

  std::string what() const override { return "an isolation forest"; }
  const table::Schema& schema() const override { return parts_.schema; }
  std::string objective() const override { return kObjective; }
  table::LabelRules label_rules() const override { return {table::LabelKind::kNone, 0, {}, ""}; }
  std::size_t n_outputs() const override { return 2; }
  std::size_t n_parameters() const override;
  std::vector<std::string> output_names(bool of_margins) const override;
  std::vector<float> margins(const table::Table& table, int n_threads) const override;
  std::vector<float> predictions(std::vector<float> margins, int n_threads) const override;
  /// Of a table with labels also how well scores separate them, as "auc": null unless they are 0 and 1.
  Json measures_of_rows(const table::Table& table, const comm::Communicator& comm, int n_threads) const override;
  std::string to_text() const override;
  algorithm::Description describe() const override;

  /// Of the rows here [n_rows].
  std::vector<float> scores(const table::Table& table, int n_threads) const;

 private:
  std::vector<float> mean_lengths(const table::Table& table, int n_threads) const;
  float score_of(float mean_length) const;

  Parts parts_;
  double mean_of_sample_;
};

/// Throws InputError for a table whose rows have weights, which trees would not look at.
void check_has_no_weights(const table::Schema& schema);

/// The score that the share `q` of all scores does not exceed, 0 < q < 1, which is one of them; 0 where there are none.
/// Collective.
double score_quantile(const std::vector<float>& scores, double q, const comm::Communicator& comm, int n_threads);

}  // namespace podere::isolation
