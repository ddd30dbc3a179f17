// Plain reference networks, which the kernels must equal.
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "podere/neural/network.h"

namespace podere::neural {

/// One row through the network, in double.
class PlainNetwork {
 public:
  /// `weights` [layout.size()].
  template <typename Weights>
  PlainNetwork(const Layout& layout, const Options& options, const Weights& weights)
      : layout_(layout), options_(options), weights_(weights.begin(), weights.end()), gradient_(layout.size(), 0.0) {}

  std::vector<double>& weights() { return weights_; }
  /// By which what hidden units give out is multiplied, [hidden layer][unit], until other factors are given.
  void drop_out(std::vector<std::vector<double>> factors) { factors_ = std::move(factors); }
  /// Sum of all calls of differentiate.
  const std::vector<double>& gradient() const { return gradient_; }

  /// Outputs before the last activation. `inputs` [n_features]
  std::vector<double> outputs(const std::vector<double>& inputs) {
    units_.clear();
    activations_ = {inputs};
    for (std::size_t l = 0; l < layout_.n_layers(); ++l) {
      const Layer& layer = layout_.layer(l);
      std::vector<double> values(layer.n_outputs);
      for (std::size_t j = 0; j < layer.n_outputs; ++j) {
        values[j] = weight(l, j, layer.n_inputs);
        for (std::size_t i = 0; i < layer.n_inputs; ++i) values[j] += weight(l, j, i) * activations_[l][i];
        if (l + 1 < layout_.n_layers()) values[j] = activate(values[j]);
      }
      units_.push_back(values);
      if (l < factors_.size()) {
        for (std::size_t j = 0; j < values.size(); ++j) values[j] *= factors_[l][j];
      }
      activations_.push_back(values);
    }
    return activations_.back();
  }

  double loss(const std::vector<double>& inputs, double label, double row_weight) {
    const std::vector<double> z = outputs(inputs);
    switch (options_.loss) {
      case Loss::kBinaryCrossEntropy:
        return row_weight * std::log1p(std::exp(label > 0.5 ? -z[0] : z[0]));
      case Loss::kCrossEntropy: {
        double sum = 0;
        for (const double value : z) sum += std::exp(value);
        return row_weight * (std::log(sum) - z[static_cast<std::size_t>(label)]);
      }
      case Loss::kSquaredError:
        return row_weight * (z[0] - label) * (z[0] - label) / 2;
    }
    return 0;
  }

  /// Adds the derivatives of loss(...) by the weights.
  void differentiate(const std::vector<double>& inputs, double label, double row_weight) {
    std::vector<double> delta = outputs(inputs);
    double sum = 0;
    for (const double z : delta) sum += std::exp(z);
    for (std::size_t k = 0; k < delta.size(); ++k) {
      const double z = delta[k];
      delta[k] = row_weight * (options_.loss == Loss::kBinaryCrossEntropy ? 1 / (1 + std::exp(-z)) - label
                               : options_.loss == Loss::kCrossEntropy
                                   ? std::exp(z) / sum - (k == static_cast<std::size_t>(label) ? 1 : 0)
                                   : z - label);
    }
    for (std::size_t l = layout_.n_layers(); l-- > 0;) {
      const Layer& layer = layout_.layer(l);
      std::vector<double> below(layer.n_inputs, 0.0);
      for (std::size_t j = 0; j < layer.n_outputs; ++j) {
        for (std::size_t i = 0; i < layer.n_inputs; ++i) {
          gradient_[place(l, j, i)] += delta[j] * activations_[l][i];
          below[i] += delta[j] * weight(l, j, i);
        }
        gradient_[place(l, j, layer.n_inputs)] += delta[j];
      }
      if (l > 0) {
        for (std::size_t i = 0; i < layer.n_inputs; ++i) {
          below[i] *= slope(units_[l - 1][i]) * (l <= factors_.size() ? factors_[l - 1][i] : 1);
        }
      }
      delta = below;
    }
  }

 private:
  std::size_t place(std::size_t l, std::size_t j, std::size_t i) const {
    return layout_.layer(l).offset + j * layout_.layer(l).stride() + i;
  }
  double weight(std::size_t l, std::size_t j, std::size_t i) const { return weights_[place(l, j, i)]; }
  double activate(double x) const {
    switch (options_.activation) {
      case Activation::kIdentity:
        return x;
      case Activation::kRelu:
        return x > 0 ? x : 0;
      case Activation::kSigmoid:
        return 1 / (1 + std::exp(-x));
      case Activation::kTanh:
        return std::tanh(x);
    }
    return 0;
  }
  double slope(double activation) const {
    switch (options_.activation) {
      case Activation::kIdentity:
        return 1;
      case Activation::kRelu:
        return activation > 0 ? 1 : 0;
      case Activation::kSigmoid:
        return activation * (1 - activation);
      case Activation::kTanh:
        return 1 - activation * activation;
    }
    return 0;
  }

  const Layout& layout_;
  const Options& options_;
  std::vector<double> weights_;
  std::vector<double> gradient_;
  std::vector<std::vector<double>> factors_;
  std::vector<std::vector<double>> units_;        // of each layer
  std::vector<std::vector<double>> activations_;  // inputs, then what each layer gives out, less what was dropped
};

}  // namespace podere::neural
