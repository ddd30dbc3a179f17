#include "podere/exchange/objectives.h"

#include <algorithm>
#include <array>
#include <string>

#include "podere/base/error.h"
#include "podere/base/number.h"

namespace podere::exchange {
namespace {

using tree::Objective;

// What counts is how a margin becomes a prediction: it is one (squared-error), its logistic function (logistic) or its
// exponential function (poisson).
constexpr auto kMargin = Objective::kSquaredError;
constexpr auto kExponential = Objective::kPoisson;

constexpr std::array kXgboost = {
    ForeignObjective{"binary:logistic", Objective::kBinaryLogistic},
    ForeignObjective{"reg:logistic", Objective::kBinaryLogistic},
    ForeignObjective{"reg:squarederror", kMargin},
    ForeignObjective{"multi:softprob", Objective::kSoftmax},
    ForeignObjective{"multi:softmax", Objective::kSoftmax},
    ForeignObjective{"count:poisson", Objective::kPoisson},
    ForeignObjective{"reg:quantileerror", Objective::kQuantile},
    ForeignObjective{"binary:logitraw", kMargin},
    ForeignObjective{"reg:linear", kMargin},  // until 1.0
    ForeignObjective{"reg:absoluteerror", kMargin},
    ForeignObjective{"reg:pseudohubererror", kMargin},
    ForeignObjective{"reg:squaredlogerror", kMargin},
    ForeignObjective{"rank:pairwise", kMargin},
    ForeignObjective{"rank:ndcg", kMargin},
    ForeignObjective{"rank:map", kMargin},
    ForeignObjective{"reg:gamma", kExponential},
    ForeignObjective{"reg:tweedie", kExponential},
    ForeignObjective{"survival:cox", kExponential},
    ForeignObjective{"survival:aft", kExponential},
    ForeignObjective{"binary:hinge", kMargin, "which predicts 0 or 1 only: train with binary:logitraw"},
};

constexpr std::array kLightgbm = {
    ForeignObjective{"binary", Objective::kBinaryLogistic},
    ForeignObjective{"regression", kMargin},
    ForeignObjective{"multiclass", Objective::kSoftmax},
    ForeignObjective{"poisson", Objective::kPoisson},
    ForeignObjective{"quantile", Objective::kQuantile},
    ForeignObjective{"regression_l1", kMargin},
    ForeignObjective{"huber", kMargin},
    ForeignObjective{"fair", kMargin},
    ForeignObjective{"mape", kMargin},
    ForeignObjective{"lambdarank", kMargin},
    ForeignObjective{"rank_xendcg", kMargin},
    ForeignObjective{"custom", kMargin},
    ForeignObjective{"gamma", kExponential},
    ForeignObjective{"tweedie", kExponential},
    ForeignObjective{"cross_entropy", Objective::kBinaryLogistic},
    ForeignObjective{"xentropy", Objective::kBinaryLogistic},
    ForeignObjective{"multiclassova", Objective::kOneVersusAll},
    ForeignObjective{"cross_entropy_lambda", kMargin, "whose predictions are log(1 + exp): train with cross_entropy"},
    ForeignObjective{"xentlambda", kMargin, "whose predictions are log(1 + exp): train with cross_entropy"},
};

constexpr std::array kCatboost = {
    ForeignObjective{"Logloss", Objective::kBinaryLogistic},
    ForeignObjective{"CrossEntropy", Objective::kBinaryLogistic},
    ForeignObjective{"RMSE", kMargin},
    ForeignObjective{"MultiClass", Objective::kSoftmax},
    ForeignObjective{"Poisson", Objective::kPoisson},
    ForeignObjective{"Quantile", Objective::kQuantile},
    ForeignObjective{"MAE", kMargin},
    ForeignObjective{"MAPE", kMargin},
    ForeignObjective{"Huber", kMargin},
    ForeignObjective{"Expectile", kMargin},
    ForeignObjective{"Lq", kMargin},
    ForeignObjective{"LogCosh", kMargin},
    ForeignObjective{"PairLogit", kMargin},
    ForeignObjective{"PairLogitPairwise", kMargin},
    ForeignObjective{"YetiRank", kMargin},
    ForeignObjective{"YetiRankPairwise", kMargin},
    ForeignObjective{"QueryRMSE", kMargin},
    ForeignObjective{"QuerySoftMax", kMargin},
    ForeignObjective{"Tweedie", kExponential},
    ForeignObjective{"MultiClassOneVsAll", Objective::kOneVersusAll},
    ForeignObjective{"Focal", Objective::kBinaryLogistic},
    ForeignObjective{"MultiRMSE", kMargin},
    ForeignObjective{"MultiRMSEWithMissingValues", kMargin},
    ForeignObjective{"RMSEWithUncertainty", kMargin},  // the mean, and the logarithm of the standard deviation
    ForeignObjective{"MultiQuantile", Objective::kQuantile},
    ForeignObjective{"MultiLogloss", Objective::kBinaryLogistic},
    ForeignObjective{"MultiCrossEntropy", Objective::kBinaryLogistic},
};

}  // namespace

std::span<const ForeignObjective> xgboost_objectives() { return kXgboost; }
std::span<const ForeignObjective> lightgbm_objectives() { return kLightgbm; }
std::span<const ForeignObjective> catboost_objectives() { return kCatboost; }

tree::Objective objective_of_margins() { return kMargin; }

tree::Objective objective_called(std::string_view name, std::string_view whole,
                                 std::span<const ForeignObjective> objectives) {
  std::string allowed;
  for (const ForeignObjective& known : objectives) {
    if (name == known.name && known.instead == nullptr) return known.objective;
    if (name == known.name) throw_input_error("has the objective '{}', {}", whole, known.instead);
    if (known.instead == nullptr) allowed += (allowed.empty() ? "" : ", ") + std::string(known.name);
  }
  throw_input_error("has the objective '{}', which Podere does not have: train with one of {}", whole, allowed);
}

std::optional<std::vector<double>> numbers_in(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  std::vector<double> numbers;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto number = parse_real(text.substr(begin, end - begin));
    if (!number) return std::nullopt;
    numbers.push_back(*number);
    begin = end + 1;
  }
  return numbers;
}

std::vector<double> quantiles_in(std::string_view text) {
  const auto quantiles = numbers_in(text);
  if (!quantiles) throw_input_error("has the quantiles {}, allowed are numbers", text);
  for (const double quantile : *quantiles) checked_quantile(quantile);
  return *quantiles;
}

double checked_quantile(double quantile) {
  if (!(quantile > 0 && quantile < 1))
    throw_input_error("has the quantile {}, allowed is one above 0 and below 1", quantile);
  return quantile;
}

}  // namespace podere::exchange
