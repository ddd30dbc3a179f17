#include "podere/tree/options.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/first_difference.h"
#include "podere/base/printable.h"
#include "podere/tree/constraints.h"
#include "podere/tree/objective.h"

namespace podere::tree {
namespace {

void check(bool is_allowed, const char* name, double value, const char* allowed) {
  if (!is_allowed) throw_input_error("{} is {}, allowed is {}", name, value, allowed);
}

void check_class_weights(const Options& o) {
  if (!o.class_weight.empty() || o.balance_classes) {
    if (!traits_of(o.objective).has_classes()) {
      throw_input_error("class-weight is for classes, the objective is {}", to_string(o.objective));
    }
  }
  for (const double weight : o.class_weight) {
    check(weight > 0 && std::isfinite(weight), "class-weight", weight, "above 0");
  }
  const std::size_t n_classes = n_classes_of(o);
  if (n_classes > 0 && o.class_weight.size() > n_classes) {
    throw_input_error("class-weight names class {}, allowed are 0 to {}", o.class_weight.size() - 1, n_classes - 1);
  }
  check(o.scale_pos_weight > 0 && std::isfinite(o.scale_pos_weight), "scale-pos-weight", o.scale_pos_weight, "above 0");
  if (o.scale_pos_weight != 1 && traits_of(o.objective).labels != table::LabelKind::kTwoClasses) {
    throw_input_error("scale-pos-weight is for logistic, the objective is {}", to_string(o.objective));
  }
}

/// An option that only some objectives have is for one of these.
void check_options_of_objectives(const Options& o) {
  const Options unset;
  if (o.quantile != unset.quantile && !traits_of(o.objective).has_quantile) {
    throw_input_error("quantile is {}, which is for the objective quantile, not for {}", o.quantile,
                      to_string(o.objective));
  }
  if (o.max_delta_step != unset.max_delta_step && !traits_of(o.objective).has_max_delta_step) {
    throw_input_error("max-delta-step is {}, which is for the objective poisson, not for {}", o.max_delta_step,
                      to_string(o.objective));
  }
}

void check_base_score(Link link, double score) {
  switch (link) {
    case Link::kLogit:
      return check(score > 0 && score < 1, "base-score", score, "above 0, below 1 (a probability)");
    case Link::kSoftmax:
      throw InputError("base-score does not go with softmax, whose classes begin with their shares");
    case Link::kLog:
      return check(score > 0 && std::isfinite(score), "base-score", score, "above 0 (a mean)");
    case Link::kIdentity:
    case Link::kProbability:
      return check(std::isfinite(score), "base-score", score, "a finite number");
  }
}

/// Of what visit_fields calls `name`.
std::string name_of_option(std::string name) {
  if (name == "n_classes") return "classes";
  if (name == "n_trees") return "trees";
  if (name == "early_stopping_rounds") return "early-stopping";
  std::ranges::replace(name, '_', '-');
  return name;
}

}  // namespace

std::string first_difference(const Options& was, const Options& is) {
  if (was.objective != is.objective) return difference_in_words("objective", was.objective, is.objective);
  // The default depth follows from it.
  if (was.best_first != is.best_first) {
    const auto growth = [](const Options& o) { return o.best_first ? "best-first" : "level"; };
    return fmt::format("growth was {}, is {}", growth(was), growth(is));
  }
  if (was.balance_classes != is.balance_classes) {
    const auto weights = [](const Options& o) {
      return o.balance_classes ? "balanced" : value_in_words(o.class_weight);
    };
    return fmt::format("class-weight was {}, is {}", weights(was), weights(is));
  }
  return first_difference_of(was, is, name_of_option);
}

void validate(const Options& o) {
  check(o.quantile > 0 && o.quantile < 1, "quantile", o.quantile, "above 0, below 1");
  check(o.max_delta_step > 0 && std::isfinite(o.max_delta_step), "max-delta-step", o.max_delta_step, "above 0");
  check_options_of_objectives(o);
  check_class_weights(o);
  if (o.base_score) check_base_score(traits_of(o.objective).link, *o.base_score);
  check(o.n_trees >= 1 && o.n_trees <= kMaxTrees, "trees", o.n_trees, "1 to 100000");
  check(o.depth >= 1 && o.depth <= kMaxDepth, "depth", o.depth, "1 to 30");
  check(o.max_leaves == 0 || o.max_leaves >= 2, "max-leaves", o.max_leaves, "0 (no limit) or at least 2");
  check(o.max_leaves > 0 || !o.best_first, "max-leaves", o.max_leaves, "at least 2 where the best leaf is split first");
  check(o.bins >= 2 && o.bins <= kMaxBins, "bins", o.bins, "2 to 256");
  check(o.learning_rate > 0 && o.learning_rate <= 1, "learning-rate", o.learning_rate, "above 0, at most 1");
  check(o.lambda >= 0 && o.lambda <= kMaxPenalty, "lambda", o.lambda, "0 to 1e12");
  check(o.min_child_weight >= 0 && std::isfinite(o.min_child_weight), "min-child-weight", o.min_child_weight,
        "0 or more");
  check(o.min_gain >= 0 && std::isfinite(o.min_gain), "min-gain", o.min_gain, "0 or more");
  check(o.subsample > 0 && o.subsample <= 1, "subsample", o.subsample, "above 0, at most 1");
  check(o.column_subsample > 0 && o.column_subsample <= 1, "column-subsample", o.column_subsample,
        "above 0, at most 1");
  check(o.validation_fraction >= 0 && o.validation_fraction < 1, "validation-fraction", o.validation_fraction,
        "0 or more, below 1");
  check(o.early_stopping_rounds >= 0, "early-stopping", o.early_stopping_rounds, "0 (never) or more");
  if (traits_of(o.objective).labels == table::LabelKind::kClasses) {
    check(o.n_classes == 0 || (o.n_classes >= 2 && o.n_classes <= kMaxClasses), "classes", o.n_classes,
          "0 (found from the labels) or 2 to 1000");
  } else {
    check(o.n_classes == 0, "classes", o.n_classes, "0: only softmax has classes to count");
  }
  check_constraints(o);
}

}  // namespace podere::tree
