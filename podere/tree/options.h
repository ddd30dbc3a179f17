// What a user can choose about boosted trees.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "podere/base/enum_names.h"

namespace podere::tree {

inline constexpr int kMaxTrees = 100000;
inline constexpr int kMaxDepth = 30;
inline constexpr int kMaxBins = 256;
inline constexpr int kMaxClasses = 1000;
inline constexpr double kMaxPenalty = 1e12;

enum class Objective {
  kBinaryLogistic,  ///< label 0 or 1; the margin is the log odds
  kSquaredError,    ///< label any finite number; the margin is the prediction
  kSoftmax,         ///< label 0 .. n_classes-1; one tree per class and round
  kPoisson,         ///< label any finite number from 0; the margin is the logarithm of the mean
  kQuantile,        ///< label any finite number; the margin is the prediction
  // Of models that other programs trained:
  kProbabilities,  ///< label 0 .. n_classes-1; each margin is the probability of a class
  kOneVersusAll,   ///< label 0 .. n_classes-1; each margin is the log odds of a class against all others
};

constexpr EnumNames<7> names_of(Objective /*enumeration*/) {
  return {"objective",
          {"logistic", "squared-error", "softmax", "poisson", "quantile", "probabilities", "one-versus-all"}};
}
using podere::to_string;

/// Names follow XGBoost and LightGBM where they agree.
struct Options {
  Objective objective = Objective::kBinaryLogistic;
  int n_classes = 0;                 ///< of more than two classes; 0: the largest label plus one
  double quantile = 0.5;             ///< quantile only: the share of labels below the prediction, (0, 1)
  double max_delta_step = 0.7;       ///< Poisson only: most that a tree adds to a margin before learning_rate, > 0
  std::vector<double> class_weight;  ///< by which weights of class k are multiplied, > 0; 1 for classes beyond
  bool balance_classes = false;      ///< sets class_weight so that all classes have the same sum of weights
  double scale_pos_weight = 1.0;     ///< logistic only: by which weights of class 1 are multiplied besides, > 0
  std::optional<double> base_score;  ///< the prediction before any tree; unset: the one that fits best. Not for softmax
  int n_trees = 100;                 ///< rounds; softmax grows n_classes trees in each
  int depth = 6;                     ///< edges from root to deepest leaf, 1 .. 30
  int max_leaves = 0;                ///< of one tree, 0: no limit; the best splits of a level come first
  bool best_first = false;           ///< split the leaf that gains most, not level by level; needs max_leaves
  int bins = 256;                    ///< histogram bins of a feature, 2 .. 256; missing values take one of them
  double learning_rate = 0.1;        ///< (0, 1]
  double lambda = 1.0;               ///< L2 penalty on leaf values, 0 .. 1e12
  double min_child_weight = 1.0;     ///< least sum of hessians in a leaf, >= 0
  double min_gain = 0.0;             ///< least gain of a split, >= 0
  double subsample = 1.0;            ///< share of rows drawn for each round, (0, 1]
  double column_subsample = 1.0;     ///< share of features drawn for each tree, (0, 1]
  double validation_fraction = 0.0;  ///< share of training rows set aside to validate, [0, 1)
  int early_stopping_rounds = 0;     ///< stop after so many rounds without a lower validation loss; 0: never
  std::uint64_t seed = 0;
  std::string monotone;      ///< "pt:+1,eta:-1": features with which predictions only rise, only fall; not for softmax
  std::string interactions;  ///< "a,b;c,d,e": features that may meet on a path; those not named meet none
  bool operator==(const Options&) const = default;

  /// Calls visit(name, member) for each option, under the names that files use.
  static void visit_fields(auto& self, auto&& visit) {
    visit("objective", self.objective);
    visit("n_classes", self.n_classes);
    visit("quantile", self.quantile);
    visit("max_delta_step", self.max_delta_step);
    visit("class_weight", self.class_weight);
    visit("balance_classes", self.balance_classes);
    visit("scale_pos_weight", self.scale_pos_weight);
    visit("base_score", self.base_score);
    visit("n_trees", self.n_trees);
    visit("depth", self.depth);
    visit("max_leaves", self.max_leaves);
    visit("best_first", self.best_first);
    visit("bins", self.bins);
    visit("learning_rate", self.learning_rate);
    visit("lambda", self.lambda);
    visit("min_child_weight", self.min_child_weight);
    visit("min_gain", self.min_gain);
    visit("subsample", self.subsample);
    visit("column_subsample", self.column_subsample);
    visit("validation_fraction", self.validation_fraction);
    visit("early_stopping_rounds", self.early_stopping_rounds);
    visit("seed", self.seed);
    visit("monotone", self.monotone);
    visit("interactions", self.interactions);
  }
};

/// "depth was 6, is 8" of the first option in which they differ, by its name on the command line; empty if they are
/// alike.
std::string first_difference(const Options& was, const Options& is);

/// Throws InputError that names the first option out of its range, its value and what is allowed.
void validate(const Options& options);

}  // namespace podere::tree
