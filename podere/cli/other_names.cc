#include "podere/cli/other_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace podere::cli {
namespace {

struct OtherName {
  std::string_view others;    // options, or values as "--objective NAME, NAME"
  std::string_view commands;  // of train
  std::string_view own;       // empty: there is nothing that means the same
  std::string_view note;
};

constexpr std::string_view kBestFirst = "--growth best-first ";  // unless the command says how to grow

constexpr std::array kOtherNames = {
    OtherName{"--n-estimators", "gbt", "--trees", "XGBoost, LightGBM, scikit-learn"},
    OtherName{"--num-boost-round", "gbt", "--trees", "XGBoost, LightGBM"},
    OtherName{"--num-round, --num-rounds, --nrounds", "gbt", "--trees", "XGBoost, LightGBM"},
    OtherName{"--num-iterations, --num-trees", "gbt", "--trees", "LightGBM"},
    OtherName{"--max-iter", "gbt", "--trees", "scikit-learn, LightGBM"},
    OtherName{"--max-depth", "gbt", "--depth", "XGBoost, LightGBM, scikit-learn"},
    OtherName{"--eta", "gbt nn", "--learning-rate", "XGBoost"},
    OtherName{"--shrinkage-rate", "gbt", "--learning-rate", "LightGBM"},
    OtherName{"--lr", "gbt nn", "--learning-rate", "PyTorch"},
    OtherName{"--reg-lambda", "gbt", "--lambda", "XGBoost, LightGBM"},
    OtherName{"--lambda-l2", "gbt", "--lambda", "LightGBM"},
    OtherName{"--l2-regularization", "gbt", "--lambda", "scikit-learn"},
    OtherName{"--min-sum-hessian-in-leaf", "gbt", "--min-child-weight", "LightGBM"},
    OtherName{"--colsample-bytree", "gbt", "--column-subsample", "XGBoost, LightGBM"},
    OtherName{"--feature-fraction, --sub-feature", "gbt", "--column-subsample", "LightGBM"},
    OtherName{"--bagging-fraction, --sub-row", "gbt", "--subsample", "LightGBM with bagging_freq=1"},
    OtherName{"--max-bin, --max-bins", "gbt", "--bins", "XGBoost, LightGBM, scikit-learn"},
    OtherName{"--early-stopping-rounds", "gbt nn", "--early-stopping", "XGBoost, LightGBM"},
    OtherName{"--early-stopping-round", "gbt", "--early-stopping", "LightGBM"},
    OtherName{"--n-iter-no-change", "gbt nn", "--early-stopping", "scikit-learn"},
    OtherName{"--quantile-alpha", "gbt", "--quantile", "XGBoost"},
    OtherName{"--num-class, --num-classes", "gbt nn mlp", "--classes", "XGBoost, LightGBM"},
    OtherName{"--random-state", "gbt nn mlp", "--seed", "scikit-learn"},
    OtherName{"--random-seed", "gbt nn mlp", "--seed", "LightGBM"},
    OtherName{"--label-column", "gbt nn mlp", "--label", "LightGBM"},
    OtherName{"--sample-weight", "gbt nn mlp", "--weight", "XGBoost, LightGBM, scikit-learn"},
    OtherName{"--eval-set, --valid", "gbt nn mlp", "--validation", "XGBoost, LightGBM"},
    OtherName{"--loss", "gbt", "--objective", "scikit-learn"},
    OtherName{"--objective", "nn mlp", "--loss", "XGBoost, LightGBM"},
    OtherName{"--objective binary:logistic", "gbt", "logistic", "XGBoost"},
    OtherName{"--objective multi:softprob", "gbt", "softmax", "XGBoost"},
    OtherName{"--objective multi:softmax", "gbt", "softmax", "XGBoost; `predict` writes probabilities"},
    OtherName{"--objective reg:squarederror, reg:linear", "gbt", "squared-error", "XGBoost"},
    OtherName{"--objective count:poisson", "gbt", "poisson", "XGBoost"},
    OtherName{"--objective reg:quantileerror", "gbt", "quantile", "XGBoost"},
    OtherName{"--objective reg:absoluteerror", "gbt", "quantile", "XGBoost; the median unless `--quantile` is given"},
    OtherName{"--objective binary, cross_entropy", "gbt", "logistic", "LightGBM"},
    OtherName{"--objective multiclass", "gbt", "softmax", "LightGBM"},
    OtherName{"--objective regression, regression_l2, l2, mse", "gbt", "squared-error", "LightGBM"},
    OtherName{"--objective regression_l1, l1, mae", "gbt", "quantile",
              "LightGBM; the median unless `--quantile` is given"},
    OtherName{"--objective squared_error", "gbt", "squared-error", "scikit-learn"},
    OtherName{"--objective absolute_error", "gbt", "quantile", "scikit-learn; the median unless `--quantile` is given"},
    OtherName{"--objective log_loss", "gbt", "logistic", "scikit-learn, two classes; `softmax` for more"},
    OtherName{"--loss binary:logistic, binary", "nn mlp", "binary-cross-entropy", "XGBoost, LightGBM"},
    OtherName{"--loss multi:softprob, multi:softmax, multiclass, softmax", "nn mlp", "cross-entropy",
              "XGBoost, LightGBM"},
    OtherName{"--loss reg:squarederror, regression", "nn mlp", "squared-error", "XGBoost, LightGBM"},
    OtherName{"--loss squared_error, mse", "nn mlp", "squared-error", "scikit-learn, PyTorch's MSELoss"},
    OtherName{"--loss binary_cross_entropy, bce", "nn mlp", "binary-cross-entropy", "PyTorch, with logits"},
    OtherName{"--loss cross_entropy", "nn mlp", "cross-entropy", "PyTorch"},
    OtherName{"--grow-policy", "gbt", "--growth", "XGBoost"},
    OtherName{"--growth depthwise", "gbt", "level", "XGBoost"},
    OtherName{"--growth lossguide", "gbt", "best-first", "XGBoost"},
    OtherName{"--num-leaves, --max-leaf-nodes", "gbt", "--growth best-first --max-leaves", "LightGBM, scikit-learn"},
    OtherName{"--gamma, --min-split-loss, --min-split-gain, --min-gain-to-split", "gbt", "",
              "--min-gain is the least gain of a split, on a scale of its own"},
    OtherName{"--min-data-in-leaf, --min-child-samples, --min-samples-leaf", "gbt", "",
              "--min-child-weight is the least sum of hessians in a leaf, of squared-error that of its rows' weights"},
    OtherName{"--lambda-l1, --reg-alpha, --l1-regularization", "gbt", "",
              "there is no L1 penalty; --lambda is that of L2"},
    OtherName{"--alpha", "gbt", "", "XGBoost's L1 penalty has no counterpart, LightGBM's alpha is --quantile"},
    OtherName{"--bagging-freq, --subsample-freq", "gbt", "", "--subsample draws rows for each round"},
    OtherName{"--colsample-bylevel, --colsample-bynode, --feature-fraction-bynode, --max-features", "gbt", "",
              "--column-subsample draws features for each tree"},
    OtherName{"--monotone-constraints, --monotonic-cst", "gbt", "", "--monotone pt:+1,eta:-1 has names"},
    OtherName{"--interaction-constraints, --interaction-cst", "gbt", "", "--interactions \"a,b;c,d,e\" has names"},
    OtherName{"--categorical-feature, --categorical-features, --enable-categorical", "gbt nn mlp", "",
              "--categorical A,B names the columns"},
    OtherName{"--is-unbalance", "gbt", "", "--class-weight balanced gives classes the same weight"},
    OtherName{"--boosting, --boosting-type, --booster", "gbt", "",
              "there are gradient-boosted trees alone (gbdt, gbtree)"},
    OtherName{"--tree-method", "gbt", "", "trees are always grown on histograms, see --bins"},
    OtherName{"--device, --device-type", "gbt nn mlp", "", "the processor's cores do the work, see --cores"},
    OtherName{"--metric, --eval-metric", "gbt nn mlp", "",
              "--validation DATA shows loss and AUC; early stopping goes by the loss"},
    OtherName{"--ignore-column", "gbt nn mlp", "", "--drop A,B leaves columns out"},
    OtherName{"--warm-start, --init-model, --xgb-model", "gbt nn mlp", "",
              "--from MODEL starts from a model of Podere"},
    OtherName{"--verbose, --verbosity", "gbt nn mlp", "", "progress goes to standard error, and none with --json"},
    OtherName{"--n-jobs, --nthread, --num-threads", "gbt nn mlp", "",
              "--executors N --cores N say how many processes and threads"},
    OtherName{"--optimiser", "nn", "--optimizer", "old spelling"},
    OtherName{"--solver", "nn", "--optimizer", "scikit-learn"},
    OtherName{"--hidden-layer-sizes", "nn mlp", "--layers", "scikit-learn"},
    OtherName{"--hidden-layers", "nn mlp", "--layers", ""},
    OtherName{"--initialisation", "nn mlp", "--initialization", "old spelling"},
    OtherName{"--no-standardise", "nn mlp", "--no-standardize", "old spelling"},
    OtherName{"--learning-rate-init", "nn", "--learning-rate", "scikit-learn"},
    OtherName{"--lr, --eta, --learning-rate-init", "mlp", "",
              "L-BFGS finds the length of each step itself; train nn has --learning-rate"},
    OtherName{"--max-iter", "nn", "--epochs", "scikit-learn"},
    OtherName{"--max-iter", "mlp", "--iterations", "scikit-learn"},
    OtherName{"--tol", "nn mlp", "", "--tolerance, of L-BFGS, is a share of the first loss"},
    OtherName{"--alpha", "nn mlp", "", "--l2 is not divided by the number of rows, as scikit-learn's alpha is"},
};

/// The names of an entry: "--a, --b" are "--a" and "--b", "--objective a, b" are "--objective a" and "--objective b".
std::vector<std::string> names_of(std::string_view others) {
  const std::size_t space = others.find(' ');
  const bool are_values = space != std::string_view::npos && others[space - 1] != ',';
  const std::string option(are_values ? others.substr(0, space + 1) : "");
  std::vector<std::string> names;
  for (std::size_t begin = option.size(), end = 0; end < others.size(); begin = end + 2) {
    end = std::min(others.find(", ", begin), others.size());
    names.push_back(option + std::string(others.substr(begin, end - begin)));
  }
  return names;
}

/// The entry for an option, or "option value", of a command of train; null if there is none.
const OtherName* find_other_name(std::string_view command, std::string others) {
  const auto end = others.begin() + static_cast<long>(std::min(others.find(' '), others.size()));
  std::replace(others.begin(), end, '_', '-');
  const auto is_meant = [&](const OtherName& name) {
    return std::ranges::count(names_of(name.others), others) > 0 &&
           fmt::format(" {} ", name.commands).find(fmt::format(" {} ", command)) != std::string::npos;
  };
  const auto* const found = std::ranges::find_if(kOtherNames, is_meant);
  return found == kOtherNames.end() ? nullptr : found;
}

std::string own_name(const std::string& command, const std::string& others, const std::string& otherwise) {
  const OtherName* const name = find_other_name(command, others);
  return name == nullptr || name->own.empty() ? otherwise : std::string(name->own);
}

/// A value of an option, which has its own name.
std::string own_value(const std::string& command, const std::string& option, const std::string& value) {
  return own_name(command, option + " " + value, value);
}

}  // namespace

std::vector<std::string> in_own_names(std::vector<std::string> words) {
  if (words.size() == 1 && words[0] == "version") return {"--version"};
  if (!words.empty() && words[0] == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
    return words;
  }
  if (words.size() < 2 || words[0] != "train") return words;
  const std::string command = words[1];
  bool grows_best_first = false;
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (!words[i].starts_with("--")) {
      words[i] = own_value(command, words[i - 1], words[i]);
      continue;
    }
    const std::size_t equals = std::min(words[i].find('='), words[i].size());
    const std::string option = own_name(command, words[i].substr(0, equals), words[i].substr(0, equals));
    const std::string value = words[i].substr(equals);
    words[i] = option + (value.empty() ? "" : "=" + own_value(command, option, value.substr(1)));
    if (words[i].starts_with(kBestFirst)) {
      words[i].erase(0, kBestFirst.size());
      grows_best_first = true;
    }
  }
  const auto says_growth = [](const std::string& word) { return word.starts_with("--growth"); };
  if (grows_best_first && std::ranges::none_of(words, says_growth)) words.emplace_back("--growth=best-first");
  return words;
}

std::string hint_of(const std::string& command, const std::string& option) {
  const OtherName* const name = find_other_name(command, option);
  return name == nullptr || !name->own.empty() ? "" : std::string(name->note);
}

std::string other_names_text() {
  std::string text = "| elsewhere | `podere train` | here | |\n|---|---|---|---|\n";
  for (const OtherName& name : kOtherNames) {
    const std::string own = name.own.empty() ? "" : fmt::format("`{}`", name.own);
    const std::string others = fmt::format("`{}`", fmt::join(names_of(name.others), "`, `"));
    text += fmt::format("| {} | {} | {} | {} |\n", others, name.commands, own, name.note);
  }
  return text;
}

}  // namespace podere::cli
