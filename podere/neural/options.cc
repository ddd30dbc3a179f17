#include "podere/neural/options.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "podere/base/error.h"
#include "podere/base/first_difference.h"
#include "podere/base/printable.h"

namespace podere::neural {
namespace {

void check(bool is_allowed, const char* name, double value, const char* allowed) {
  if (!is_allowed) throw_input_error("{} is {}, allowed is {}", name, value, allowed);
}

void check_network(const Options& o) {
  if (o.hidden.size() > kMaxLayers) {
    throw_input_error("layers are {}, allowed are at most {}", o.hidden.size(), kMaxLayers);
  }
  for (const int width : o.hidden) check(width >= 1 && width <= kMaxWidth, "layers", width, "widths from 1 to 4096");
  if (o.loss == Loss::kCrossEntropy) {
    check(o.n_classes == 0 || (o.n_classes >= 2 && o.n_classes <= kMaxClasses), "classes", o.n_classes,
          "0 (found from the labels) or 2 to 1000");
  } else {
    check(o.n_classes == 0, "classes", o.n_classes, "0: only cross-entropy has classes to count");
  }
}

void check_optimizer(const Options& o) {
  const auto is_share = [](double x) { return x >= 0 && x < 1; };
  const auto is_penalty = [](double x) { return x >= 0 && x <= kMaxPenalty; };
  const auto is_finite_from_0 = [](double x) { return x >= 0 && std::isfinite(x); };
  check(o.epochs >= 1 && o.epochs <= kMaxEpochs, o.optimizer == Optimizer::kLbfgs ? "iterations" : "epochs", o.epochs,
        "1 to 1000000");
  check(o.batch_size >= 0 && o.batch_size <= kMaxBatch, "batch-size", o.batch_size,
        "0 (a hundredth of the rows) or 1 to 1048576");
  check(o.learning_rate > 0 && o.learning_rate <= kMaxLearningRate, "learning-rate", o.learning_rate,
        "above 0, at most 1e6");
  check(o.learning_rate_decay > 0 && o.learning_rate_decay <= 1, "learning-rate-decay", o.learning_rate_decay,
        "above 0, at most 1");
  check(is_share(o.momentum), "momentum", o.momentum, "0 or more, below 1");
  check(is_share(o.beta1), "beta1", o.beta1, "0 or more, below 1");
  check(is_share(o.beta2), "beta2", o.beta2, "0 or more, below 1");
  check(o.epsilon > 0 && std::isfinite(o.epsilon), "epsilon", o.epsilon, "above 0");
  check(is_penalty(o.l2), "l2", o.l2, "0 to 1e12");
  check(is_penalty(o.weight_decay), "weight-decay", o.weight_decay, "0 to 1e12");
  check(is_finite_from_0(o.clip_norm), "clip-norm", o.clip_norm, "0 (none) or more");
  check(is_share(o.dropout), "dropout", o.dropout, "0 or more, below 1");
  check(o.history >= 1 && o.history <= kMaxHistory, "history", o.history, "1 to 100");
  check(is_finite_from_0(o.tolerance), "tolerance", o.tolerance, "0 or more");
  check(o.servers >= 0 && o.servers <= kMaxServers, "servers", o.servers, "0 (none) to 1024");
  check(o.staleness >= -1, "staleness", o.staleness, "0 (synchronous) or more, or -1 (no bound)");
  check(o.staleness == 0 || o.servers > 0, "staleness", o.staleness, "0 without servers");
  if (o.optimizer == Optimizer::kLbfgs) {
    check(o.servers == 0, "servers", o.servers, "0 with lbfgs");
    // Its line search compares losses at several points: they must be of the same function.
    check(o.dropout == 0, "dropout", o.dropout, "0 with lbfgs");
    check(o.clip_norm == 0, "clip-norm", o.clip_norm, "0 with lbfgs");
  }
}

/// Of what visit_fields calls `name`.
std::string name_of_option(std::string name, const Options& o) {
  if (name == "hidden") return "layers";
  if (name == "n_classes") return "classes";
  if (name == "early_stopping_epochs") return "early-stopping";
  if (name == "epochs" && o.optimizer == Optimizer::kLbfgs) return "iterations";
  if (name == "optimiser") return "optimizer";
  if (name == "initialisation") return "initialization";
  if (name == "standardise") return "standardize";
  std::ranges::replace(name, '_', '-');
  return name;
}

}  // namespace

std::string output_activation(Loss loss) {
  return loss == Loss::kBinaryCrossEntropy ? "sigmoid" : loss == Loss::kCrossEntropy ? "softmax" : "identity";
}

std::string first_difference(const Options& was, const Options& is) {
  return first_difference_of(was, is, [&](const std::string& name) { return name_of_option(name, is); });
}

void validate(const Options& o) {
  check_network(o);
  check_optimizer(o);
  check(o.validation_fraction >= 0 && o.validation_fraction < 1, "validation-fraction", o.validation_fraction,
        "0 or more, below 1");
  check(o.one_hot >= 2 && o.one_hot <= kMaxWidth, "one-hot", o.one_hot, "2 to 4096");
  check(o.early_stopping_epochs >= 0, "early-stopping", o.early_stopping_epochs, "0 (never) or more");
}

void check_all_are_used(const Options& o) {
  const Options unset;
  const auto only = [&](auto Options::*option, const char* name, const char* owners, const std::string& chosen) {
    if (o.*option == unset.*option) return;
    throw_input_error("{} is {}, which is for {}, not for {}", name, value_in_words(o.*option), owners, chosen);
  };
  const std::string optimizer = to_string(o.optimizer);
  if (o.optimizer == Optimizer::kLbfgs) {
    constexpr const char* kBySteps = "the optimizers sgd, adam and adamw";
    only(&Options::batch_size, "batch-size", kBySteps, optimizer);
    only(&Options::learning_rate, "learning-rate", kBySteps, optimizer);
    only(&Options::schedule, "schedule", kBySteps, optimizer);
  } else {
    only(&Options::tolerance, "tolerance", "the optimizer lbfgs", optimizer);
    only(&Options::history, "history", "the optimizer lbfgs", optimizer);
  }
  if (o.schedule != Schedule::kExponential) {
    only(&Options::learning_rate_decay, "learning-rate-decay", "the schedule exponential", to_string(o.schedule));
  }
  if (o.loss != Loss::kSquaredError) {
    only(&Options::standardize_target, "standardize-target", "the loss squared-error", to_string(o.loss));
  }
  if (o.optimizer != Optimizer::kSgd) only(&Options::momentum, "momentum", "the optimizer sgd", optimizer);
  if (o.optimizer != Optimizer::kAdamW) only(&Options::weight_decay, "weight-decay", "the optimizer adamw", optimizer);
}

}  // namespace podere::neural
