// What a user can choose about networks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "podere/base/enum_names.h"

namespace podere::neural {

inline constexpr int kMaxWidth = 4096;  ///< units of a layer, and features
inline constexpr int kMaxLayers = 64;   ///< hidden ones
inline constexpr int kMaxClasses = 1000;
inline constexpr double kMaxLearningRate = 1e6;
inline constexpr double kMaxPenalty = 1e12;
inline constexpr int kMaxServers = 1024;
inline constexpr int kMaxBatch = 1 << 20;
inline constexpr int kMaxEpochs = 1000000;
inline constexpr int kMaxHistory = 100;  ///< of lbfgs

/// Of hidden layers.
enum class Activation { kIdentity, kRelu, kSigmoid, kTanh };

/// Of the weights that training starts from (network.h).
enum class Initialization { kGlorot, kHe, kPytorch };

/// The loss that training minimizes; the last layer follows from it.
enum class Loss {
  kBinaryCrossEntropy,  ///< label 0 or 1; one output, sigmoid
  kCrossEntropy,        ///< label 0 .. n_classes-1; an output a class, softmax
  kSquaredError,        ///< label any finite number; one output, identity; half the squared difference
};

enum class Optimizer { kLbfgs, kSgd, kAdam, kAdamW };

/// How the learning rate changes with the steps.
enum class Schedule {
  kConstant,
  kExponential,  ///< times learning_rate_decay after each epoch
  kCosine,       ///< from learning_rate to 0 along half a cosine, over all epochs
};

constexpr EnumNames<4> names_of(Activation /*enumeration*/) {
  return {"activation", {"identity", "relu", "sigmoid", "tanh"}};
}
constexpr EnumNames<3> names_of(Initialization /*enumeration*/) {
  return {"initialization", {"glorot", "he", "pytorch"}};
}
constexpr EnumNames<3> names_of(Loss /*enumeration*/) {
  return {"loss", {"binary-cross-entropy", "cross-entropy", "squared-error"}};
}
constexpr EnumNames<4> names_of(Optimizer /*enumeration*/) { return {"optimizer", {"lbfgs", "sgd", "adam", "adamw"}}; }
constexpr EnumNames<3> names_of(Schedule /*enumeration*/) {
  return {"schedule", {"constant", "exponential", "cosine"}};
}
using podere::to_string;

/// Of the last layer: "sigmoid", "softmax", "identity".
std::string output_activation(Loss loss);

/// Names follow Keras and PyTorch where they agree. "step": a batch; for lbfgs all rows are one batch and one epoch.
struct Options {
  Loss loss = Loss::kBinaryCrossEntropy;
  int n_classes = 0;                          ///< cross-entropy only; 0: the largest label plus one
  std::vector<int> hidden = {100};            ///< widths of the hidden layers, 1 .. 4096; none: a linear model
  Activation activation = Activation::kRelu;  ///< of all hidden layers
  Initialization initialization = Initialization::kPytorch;
  Optimizer optimizer = Optimizer::kAdam;
  int epochs = 50;  ///< passes over the training rows; for lbfgs iterations
  int batch_size =
      0;  ///< rows of a step, rounded up to whole tiles (batches.h), up to 2^20; 0: a hundredth of all, 32 .. 4096
  double learning_rate = 0.001;             ///< > 0; not for lbfgs
  Schedule schedule = Schedule::kConstant;  ///< not for lbfgs
  double learning_rate_decay = 0.95;        ///< exponential schedule only, (0, 1]
  double momentum = 0.9;                    ///< sgd only, [0, 1)
  double beta1 = 0.9;                       ///< adam, adamw: decay of the mean gradient, [0, 1)
  double beta2 = 0.999;                     ///< adam, adamw: decay of the mean squared gradient, [0, 1)
  double epsilon = 1e-8;                    ///< adam, adamw: > 0
  double l2 = 0;                            ///< adds l2 / 2 times the sum of squared weights (no biases) to the loss
  double weight_decay = 0.01;               ///< adamw only: each step takes learning_rate * this off weights, >= 0
  double clip_norm = 0;                     ///< gradients longer than this are shortened to it; 0: none. Not lbfgs
  double dropout = 0;                       ///< share of hidden units left out of each row and step, [0, 1)
  int history = 10;                         ///< lbfgs only: pairs of steps and gradients kept, 1 .. 100
  double tolerance = 1e-6;                  ///< lbfgs only: ends where the loss falls less than this share, >= 0
  int servers = 0;    ///< parameter servers among the executors, the others are workers; 0: none. Not lbfgs
  int staleness = 0;  ///< with servers: batches that a worker may be ahead of the slowest; 0: synchronous; -1: any
  bool standardize = true;         ///< features on a common scale, learned from the training rows
  bool standardize_target = true;  ///< squared-error only: labels on a common scale, undone in predictions
  int one_hot =
      64;  ///< categories of a feature up to which each has an input; more share so many (inputs.h), 2 .. 4096
  bool impute = false;             ///< missing values become the mean of their feature; else are refused
  double validation_fraction = 0;  ///< share of training rows set aside to validate, [0, 1)
  int early_stopping_epochs = 0;   ///< stop after so many epochs without a lower validation loss; 0: never
  std::uint64_t seed = 0;
  bool operator==(const Options&) const = default;

  /// Calls visit(name, member) for each option, under the names that files use.
  static void visit_fields(auto& self, auto&& visit) {
    visit("loss", self.loss);
    visit("n_classes", self.n_classes);
    visit("hidden", self.hidden);
    visit("activation", self.activation);
    visit("initialisation", self.initialization);
    visit("optimiser", self.optimizer);
    visit("epochs", self.epochs);
    visit("batch_size", self.batch_size);
    visit("learning_rate", self.learning_rate);
    visit("schedule", self.schedule);
    visit("learning_rate_decay", self.learning_rate_decay);
    visit("momentum", self.momentum);
    visit("beta1", self.beta1);
    visit("beta2", self.beta2);
    visit("epsilon", self.epsilon);
    visit("l2", self.l2);
    visit("weight_decay", self.weight_decay);
    visit("clip_norm", self.clip_norm);
    visit("dropout", self.dropout);
    visit("history", self.history);
    visit("tolerance", self.tolerance);
    visit("servers", self.servers);
    visit("staleness", self.staleness);
    visit("standardise", self.standardize);
    visit("standardize_target", self.standardize_target);
    visit("one_hot", self.one_hot);
    visit("impute", self.impute);
    visit("validation_fraction", self.validation_fraction);
    visit("early_stopping_epochs", self.early_stopping_epochs);
    visit("seed", self.seed);
  }
};

/// "learning-rate was 0.01, is 0.02" of the first option in which they differ, by its name on the command line; empty
/// if they are alike.
std::string first_difference(const Options& was, const Options& is);

/// Throws InputError that names the first option out of its range, its value and what is allowed.
void validate(const Options& options);

/// Throws InputError that names the first option that is not at its default and that the optimizer or the schedule does
/// not look at. For commands, whose writers mean what they say; a grid of scikit-learn's leaves such options in place.
void check_all_are_used(const Options& options);

}  // namespace podere::neural
