// A trained model, whatever trained it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "podere/base/json.h"
#include "podere/base/progress.h"
#include "podere/comm/communicator.h"
#include "podere/table/table.h"
#include "podere/table/weighted_labels.h"

namespace podere::algorithm {

/// What is in a model: for people, values by name and a table; for machines, all of it as one object.
struct Description {
  std::vector<std::pair<std::string, Json>> facts;  ///< such as {"trees", 1200}
  std::vector<std::string> head;                    ///< of the table
  std::vector<std::vector<Json>> lines;             ///< [..][head.size()]
  Json json;
};

/// How much worse a measure becomes when the values of one feature are shuffled among the rows.
struct PermutationImportance {
  std::string measure;         ///< "auc" (two classes; importance is its fall), or a loss (importance is its rise):
                               ///< "log_loss" (many classes), "root_mean_squared_error",
                               ///< "mean_poisson_deviance", "pinball_loss"
  double baseline = 0;         ///< of the measure, on the rows as they are
  std::vector<double> mean;    ///< over the repeats [n_features of the model]
  std::vector<double> spread;  ///< standard deviation over the repeats, n - 1 in the denominator; NaN for one
                               ///< repeat; 0 for features that the model does not use
};

/// A model that says why it predicts what it does.
class Explainable {
 public:
  virtual ~Explainable() = default;

  /// The margins [n_outputs] that it expects of a row of which nothing is known.
  virtual std::vector<double> bias() const = 0;
  /// SHAP values of rows [begin, end): `values` [end - begin x n_outputs x (n_features + 1)] are set, the bias at the
  /// end of each output. `features` [n_features of the model] are columns. One thread.
  virtual void shap_values(std::span<const std::span<const float>> features, std::size_t begin, std::size_t end,
                           std::span<double> values) const = 0;
  /// Collective. Throws InputError, on all ranks, for repeats or a table with which it cannot be done.
  virtual PermutationImportance permutation_importance(const table::Table& table, int repeats, std::uint64_t seed,
                                                       const comm::Communicator& comm, int n_threads,
                                                       Progress& progress) const = 0;
};

/// The margins of the rows of one table as rounds are added.
class Stages {
 public:
  virtual ~Stages() = default;
  /// [n_outputs x n_rows], of the first `n_rounds`; not fewer than the time before.
  virtual const std::vector<float>& margins_after(std::size_t n_rounds) = 0;
};

/// A trained model. Does not change; may be used from several threads.
class Model {
 public:
  virtual ~Model() = default;

  /// "a network", "boosted trees": for messages.
  virtual std::string what() const = 0;
  virtual const table::Schema& schema() const = 0;
  /// What training minimized: "logistic", "cross-entropy", ...
  virtual std::string objective() const = 0;
  /// Of objective "quantile": which one.
  virtual std::optional<double> quantile() const { return std::nullopt; }
  /// The labels that rows may have which the model is judged by; weights of classes are a matter of training.
  virtual table::LabelRules label_rules() const = 0;
  virtual std::size_t n_outputs() const = 0;
  /// How many numbers it predicts with: weights, or values of leaves. 0: it does not say.
  virtual std::size_t n_parameters() const { return 0; }

  /// Scores before the last activation [n_outputs x n_rows], output by output, of the rows held here. Local. Throws
  /// InputError for a table without the model's features.
  virtual std::vector<float> margins(const table::Table& table, int n_threads) const = 0;
  /// What margins mean: the probability of class 1, probabilities that sum to 1, numbers. Of clusters as of classes.
  virtual std::vector<float> predictions(std::vector<float> margins, int n_threads) const = 0;

  /// What its outputs are called, where they are no classes, clusters or a single number [n_outputs]: of predictions,
  /// or of margins.
  virtual std::vector<std::string> output_names(bool /*of_margins*/) const { return {}; }

  /// How well it fits rows, of a model that looks at no labels: all rows of the table, whose part each rank has.
  /// Collective. Throws InputError, on all ranks, for rows that it cannot take.
  virtual Json measures_of_rows(const table::Table& /*table*/, const comm::Communicator& /*comm*/,
                                int /*n_threads*/) const {
    return Json::object();
  }

  /// The content of its file.
  virtual std::string to_text() const = 0;
  virtual Description describe() const = 0;

  /// Of a model that grows by rounds; 0 for others.
  virtual std::size_t n_rounds() const { return 0; }
  /// The first `n` rounds alone, 1 .. n_rounds().
  virtual std::unique_ptr<const Model> first_rounds(std::size_t /*n*/) const { return nullptr; }
  /// For a table with the model's features. Both outlive what is returned. Local.
  virtual std::unique_ptr<Stages> stages(const table::Table& /*table*/, int /*n_threads*/) const { return nullptr; }
  /// Null for a model that cannot explain itself.
  virtual const Explainable* explainable() const { return nullptr; }
};

}  // namespace podere::algorithm
